"""Products, convolutions and attentions of known sizes for scripts/gpu-check, each in an NVTX range "case NAME FLOPS"
that ends synchronised. Prints a checksum of every result, which is the same in every run, with and without a
recorder.

libraries_app.py [--trace FILE]    with torch.profiler around everything, which records the shapes of operators
"""
import hashlib
import sys

import torch

torch.manual_seed(7)
to = sys.argv[2] if sys.argv[1:2] == ["--trace"] else None
if to:
    from torch.profiler import ProfilerActivity, profile
    watch = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True)
    watch.start()


def matrix(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def case(name, flops, work, tf32=False, exact=True):
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_push(f"case {name} {flops}")
    with torch.profiler.record_function(f"case {name} {flops}"):
        result = work()
        torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
    digest = hashlib.sha256(result.detach().float().cpu().numpy().tobytes()).hexdigest()[:16] if exact else "adds in any order"
    print(f"{name} {tuple(result.shape)} {digest}", flush=True)


def products(label, dtype, tf32=False):
    a, b, bias = matrix(512, 1024, dtype=dtype), matrix(1024, 256, dtype=dtype), matrix(256, dtype=dtype)
    x, y = matrix(8, 128, 64, dtype=dtype), matrix(8, 64, 192, dtype=dtype)
    weight = matrix(256, 1024, dtype=dtype)
    whole = 2 * 512 * 1024 * 256
    case(f"mm_{label}", whole, lambda: torch.mm(a, b), tf32)
    case(f"mm_transposed_{label}", 2 * 512 * 1024 * 512, lambda: torch.mm(a, a.t()), tf32)
    case(f"addmm_{label}", whole, lambda: torch.addmm(bias, a, b), tf32)
    case(f"linear_{label}", whole, lambda: torch.nn.functional.linear(a, weight, bias), tf32)
    case(f"bmm_{label}", 2 * 8 * 128 * 64 * 192, lambda: torch.bmm(x, y), tf32)
    case(f"odd_{label}", 2 * 333 * 777 * 129, lambda: torch.mm(odd_a.to(dtype), odd_b.to(dtype)), tf32)


odd_a, odd_b = matrix(333, 777), matrix(777, 129)
products("fp32", torch.float32)
products("tf32", torch.float32, tf32=True)
products("bf16", torch.bfloat16)
products("fp16", torch.float16)
double_a, double_b = matrix(256, 128, dtype=torch.float64), matrix(128, 64, dtype=torch.float64)
case("mm_fp64", 2 * 256 * 128 * 64, lambda: torch.mm(double_a, double_b))
complex_a, complex_b = matrix(256, 128, dtype=torch.complex64), matrix(128, 64, dtype=torch.complex64)
case("mm_complex64", 8 * 256 * 128 * 64, lambda: torch.view_as_real(torch.mm(complex_a, complex_b)))

# Captured once, replayed three times: each replay has the product's FLOPs. The capture itself launches nothing.
fixed_a, fixed_b = matrix(384, 640, dtype=torch.bfloat16), matrix(640, 128, dtype=torch.bfloat16)
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    torch.mm(fixed_a, fixed_b)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    captured = torch.mm(fixed_a, fixed_b)


def replay():
    for _ in range(3):
        graph.replay()
    return captured


case("replay_bf16", 3 * 2 * 384 * 640 * 128, replay)

# Convolutions go through cuDNN's graphs: 2 · outputs · (inputs of a group · kernel); a gradient has the same number.
torch.backends.cudnn.deterministic = True
image, kernel = matrix(8, 16, 32, 32), matrix(32, 16, 3, 3)
whole = 2 * 8 * 32 * 32 * 32 * 16 * 3 * 3
for label, dtype, tf32 in (("fp32", torch.float32, False), ("tf32", torch.float32, True), ("bf16", torch.bfloat16, False)):
    x, w = image.to(dtype).requires_grad_(), kernel.to(dtype).requires_grad_()
    case(f"conv_{label}", whole, lambda: torch.nn.functional.conv2d(x, w, padding=1), tf32)
    y = torch.nn.functional.conv2d(x, w, padding=1)
    seed = torch.ones_like(y)
    case(f"conv_backward_{label}", 2 * whole, lambda: torch.cat([g.flatten() for g in torch.autograd.grad(y, (x, w), seed)]), tf32)
strided = matrix(64, 4, 5, 5)
case("conv_groups_fp32", 2 * 8 * 64 * 14 * 14 * 4 * 5 * 5, lambda: torch.nn.functional.conv2d(image, strided, stride=2, groups=4))

# Attention through cuDNN: two products, and five for the gradient, whether its graph has them as products or as one
# operation. `useful`: half of them with a causal mask, which only the operator knows.
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402


def attention(label, queries, keys, dtype, causal=False):
    q, k, v = (matrix(2, 8, rows, 64, dtype=dtype).requires_grad_() for rows in (queries, keys, keys))
    score = 2 * 2 * 8 * queries * keys * 64
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        try:
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            torch.autograd.grad(y, (q, k, v), torch.ones_like(y))
        except RuntimeError as why:
            print(f"no attention through cuDNN here: {str(why).splitlines()[0]}", file=sys.stderr)
            return
        case(f"attention_{label}", 2 * score, lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        seed = torch.ones_like(y)
        case(f"attention_backward_{label}", 5 * score,
             lambda: torch.cat([g.flatten() for g in torch.autograd.grad(y, (q, k, v), seed, retain_graph=True)]), exact=False)


attention("bf16", 512, 512, torch.bfloat16)
attention("causal_fp16", 512, 512, torch.float16, causal=True)
attention("cross_bf16", 256, 512, torch.bfloat16)
if to:
    watch.stop()
    watch.export_chrome_trace(to)
print("done")
