"""Convolutions by cuDNN's legacy (pre-graph) functions, which PyTorch no longer calls: in PyTorch's own cuDNN, through
ctypes. Each is in an NVTX range "case NAME FLOPS BYTES" that ends synchronised. Prints a checksum of every result;
values are small integers."""
import ctypes
import hashlib
import re

import torch

# loads the library
torch.nn.functional.conv2d(torch.ones(1, 4, 8, 8, device="cuda"), torch.ones(4, 4, 3, 3, device="cuda"))
with open("/proc/self/maps", encoding="utf-8") as maps:
    cudnn = ctypes.CDLL(re.search(r"\S*/libcudnn\.so\.\d+", maps.read())[0])
TENSOR, FILTER, CONVOLUTION, ACTIVATION = "Tensor", "Filter", "Convolution", "Activation"
HALF, FLOAT, NCHW, CROSS, TENSOR_OPS, RELU = 2, 0, 0, 1, 1, 1
one, zero = ctypes.c_float(1), ctypes.c_float(0)


def call(name, *arguments):
    status = getattr(cudnn, name)(*arguments)
    if status != 0:
        raise SystemExit(f"{name}: status {status}")


def made(kind, setter, *values):
    descriptor = ctypes.c_void_p()
    call(f"cudnnCreate{kind}Descriptor", ctypes.byref(descriptor))
    call(setter, descriptor, *values)
    return descriptor


def tensor(values, kind=TENSOR):
    number = HALF if values.dtype == torch.float16 else FLOAT
    first = (number, NCHW) if kind == FILTER else (NCHW, number)
    return made(kind, f"cudnnSet{kind}4dDescriptor", *first, *values.shape)


def whole(*shape, dtype):
    return torch.randint(-2, 3, shape, device="cuda").to(dtype)


handle = ctypes.c_void_p()
call("cudnnCreate", ctypes.byref(handle))
work = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
torch.manual_seed(7)


def data(values):
    return ctypes.c_void_p(values.data_ptr())


def case(name, flops, size_bytes, result, function, *arguments):
    result.zero_()
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_push(f"case {name} {flops} {size_bytes}" if size_bytes else f"case {name} {flops}")
    call(function, handle, ctypes.byref(one), *arguments)
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
    print(name, hashlib.sha256(result.float().cpu().numpy().tobytes()).hexdigest()[:16], flush=True)


def convolutions(label, dtype, groups):
    x, w = whole(8, 16, 32, 32, dtype=dtype), whole(32, 16 // groups, 3, 3, dtype=dtype)
    y, bias = whole(8, 32, 32, 32, dtype=dtype), whole(1, 32, 1, 1, dtype=dtype)
    of_x, of_w, of_y = tensor(x), tensor(w, FILTER), tensor(y)
    convolution = made(CONVOLUTION, "cudnnSetConvolution2dDescriptor", 1, 1, 1, 1, 1, 1, CROSS, FLOAT)
    call("cudnnSetConvolutionGroupCount", convolution, groups)
    call("cudnnSetConvolutionMathType", convolution, TENSOR_OPS if dtype == torch.float16 else 0)
    room = (data(work), ctypes.c_size_t(work.numel()), ctypes.byref(zero))
    flops = 2 * y.numel() * (16 // groups) * 9
    size_bytes = (x.numel() + w.numel() + y.numel()) * x.element_size()
    out = torch.empty_like(y)
    case(f"forward_{label}", flops, size_bytes, out, "cudnnConvolutionForward", of_x, data(x), of_w, data(w), convolution, 1, *room, of_y, data(out))
    dx, dw = torch.empty_like(x), torch.empty_like(w)
    case(f"data_{label}", flops, size_bytes, dx, "cudnnConvolutionBackwardData", of_w, data(w), of_y, data(y), convolution, 1, *room, of_x, data(dx))
    case(f"filter_{label}", flops, size_bytes, dw, "cudnnConvolutionBackwardFilter", of_x, data(x), of_y, data(y), convolution, 1, *room, of_w, data(dw))
    activation = made(ACTIVATION, "cudnnSetActivationDescriptor", RELU, 0, ctypes.c_double(0))
    if groups == 1:
        case(f"fused_{label}", flops, 0, out, "cudnnConvolutionBiasActivationForward", of_x, data(x), of_w, data(w), convolution, 1, *room, of_y, data(out),
             tensor(bias), data(bias), activation, of_y, data(out))


convolutions("fp32", torch.float32, 1)
convolutions("fp16", torch.float16, 1)
convolutions("groups_fp32", torch.float32, 4)
print("done")
