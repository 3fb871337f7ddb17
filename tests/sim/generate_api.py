#!/usr/bin/env python3
"""Writes the exported half of the simulated driver: one wrapper per function that cuda.h declares.

Called by tests/sim/CMakeLists.txt. A function is implemented if a source of the simulator contains SIM_API(name); its
_ptsz and _ptds forms then call the same implementation with the per-thread default stream. All others return
CUDA_ERROR_NOT_SUPPORTED. Names, parameters, callback ids and versions come from the headers only.
"""
import argparse
import pathlib
import re
import subprocess


def preprocessed(compiler, includes):
    command = [compiler, "-E", "-P", "-x", "c++", "-D__CUDA_API_VERSION_INTERNAL"]
    command += [f"-I{folder}" for folder in includes] + ["-include", "cuda.h", "-include", "cudaProfiler.h", "/dev/null"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def prototypes(text):
    """name -> list of (declaration, parameter name)"""
    found = {}
    flat = re.sub(r"\s+", " ", text)
    for name, params in re.findall(r"CUresult (cu[A-Za-z0-9_]+) ?\(([^;]*?)\) ?;", flat):
        declared = [] if params.strip() in ("", "void") else [one.strip() for one in params.split(",")]
        found[name] = [(one, re.search(r"(\w+)\s*(\[\w*\])?$", one).group(1)) for one in declared]
    return found


def callback_ids(header):
    return dict(re.findall(r"CUPTI_DRIVER_TRACE_CBID_(\w+)\s*=\s*(\d+)", header.read_text()))


def base_name(name):
    return re.sub(r"(_v\d+)?(_ptsz|_ptds)?$", "", name)


def versions(header, exported):
    """symbol -> first CUDA version for which cuGetProcAddress returns it, from the PFN_<name>_v<version> types"""
    introduced = {}
    for name, version, thread in re.findall(r"\*PFN_(cu\w+?)_v(\d+)(_pts[z]|_ptds)?\)", header.read_text()):
        introduced.setdefault((name, bool(thread)), set()).add(int(version))
    result = {}
    for (name, thread), known in introduced.items():
        suffix = ("_ptsz", "_ptds") if thread else ("",)
        pattern = re.compile(re.escape(name) + r"(_v(\d+))?(%s)$" % "|".join(suffix))
        forms = sorted((int(m.group(2) or 1), symbol) for symbol in exported if (m := pattern.match(symbol)))
        # Later forms belong to later versions; if the header knows fewer versions, the oldest forms share the oldest.
        ordered = sorted(known)
        for index, (_, symbol) in enumerate(forms):
            place = len(ordered) - (len(forms) - index)
            result[symbol] = ordered[max(0, min(place, len(ordered) - 1))]
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--header", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("implementations", nargs="*")
    options = parser.parse_args()

    functions = prototypes(preprocessed(options.compiler, options.include))
    folders = [pathlib.Path(folder) for folder in options.include]
    find = lambda name: next(folder / name for folder in folders if (folder / name).exists())
    cbids = callback_ids(find("cupti_driver_cbid.h"))
    introduced = versions(find("cudaTypedefs.h"), functions)
    done = set()
    for path in options.implementations:
        done.update(re.findall(r"^SIM_API\((\w+)\)", pathlib.Path(path).read_text(), re.M))
    unknown = done - functions.keys()
    if unknown:
        raise SystemExit(f"SIM_API of functions that cuda.h does not declare: {sorted(unknown)}")

    names = sorted(functions)
    header = ["// Written by generate_api.py.", "#pragma once", '#include "tests/sim/cuda_headers.h"', "namespace sim {", "enum class ApiId : unsigned {"]
    header += [f"  {name}," for name in names] + ["};", f"constexpr unsigned kApiCount = {len(names)};"]
    for name in sorted(done):
        header.append(f"CUresult impl_{name}({', '.join(declaration for declaration, _ in functions[name])});")
    header.append("}  // namespace sim")

    source = ["// Written by generate_api.py.", '#include "tests/sim/api_call.h"', "namespace sim {",
              "const ApiInfo kApiTable[kApiCount] = {"]
    for name in names:
        per_thread = str(bool(re.search(r"_pts[z]$|_ptds$", name))).lower()
        source.append(f'  {{"{name}", "{base_name(name)}", {cbids.get(name, "0")}u, {introduced.get(name, 2000)}, {per_thread}, '
                      f"reinterpret_cast<void*>(&::{name})}},")
    source += ["};", "const ErrorInfo kErrorTable[] = {"]
    errors = re.findall(r"^\s*(CUDA_(?:SUCCESS|ERROR_\w+))\s*=\s*(\d+)", find("cuda.h").read_text(), re.M)
    source += [f'  {{{value}, "{name}"}},' for name, value in errors]
    source += ["};", f"const unsigned kErrorCount = {len(errors)};", "}  // namespace sim", 'extern "C" {']
    for name in names:
        params = functions[name]
        target = re.sub(r"(_ptsz|_ptds)$", "", name)
        declared = ", ".join(declaration for declaration, _ in params) or "void"
        used = [parameter for _, parameter in params]
        source.append(f"SIM_EXPORT CUresult {name}({declared}) {{")
        if target in done:
            fields = " ".join(f"decltype({parameter}) {parameter}_;" for parameter in used) or "int none_;"
            per_thread = "true" if target != name else "false"
            source.append(f"  struct Params {{ {fields} }};")
            source.append(f"  return sim::api_call<sim::ApiId::{name}, {per_thread}>(")
            source.append(f"      [&] {{ return sim::impl_{target}({', '.join(used)}); }},")
            source.append(f"      [&] {{ return Params{{{', '.join(used) or '0'}}}; }});")
        else:
            source += [f"  static_cast<void>({parameter});" for parameter in used]
            source.append(f"  return sim::unsupported(sim::ApiId::{name});")
        source.append("}")
    source.append('}  // extern "C"')
    pathlib.Path(options.header).write_text("\n".join(header) + "\n")
    pathlib.Path(options.source).write_text("\n".join(source) + "\n")


if __name__ == "__main__":
    main()
