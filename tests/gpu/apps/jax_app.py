"""A JAX program for scripts/gpu-check: jitted training steps (XLA's own kernels, cuBLAS, command buffers) and a scan.
Prints nothing that depends on time.

jax_app.py [--profile FOLDER]   with JAX's own profiler around all of it
"""
import sys

import jax
import jax.numpy as jnp

STEPS = 20


def predict(params, inputs):
    for weights, bias in params[:-1]:
        inputs = jax.nn.relu(inputs @ weights + bias)
    weights, bias = params[-1]
    return inputs @ weights + bias


def loss(params, inputs, targets):
    return jnp.mean((predict(params, inputs) - targets) ** 2)


@jax.jit
def step(params, inputs, targets):
    value, grads = jax.value_and_grad(loss)(params, inputs, targets)
    return [(w - 0.01 * gw, b - 0.01 * gb) for (w, b), (gw, gb) in zip(params, grads)], value


@jax.jit
def running(values):
    return jax.lax.scan(lambda carry, x: (carry * 0.5 + x, carry), jnp.float32(0), values)[0]


profile = sys.argv[2] if sys.argv[1:2] == ["--profile"] else None
jax.devices()
if profile:
    jax.profiler.start_trace(profile)
keys = jax.random.split(jax.random.PRNGKey(7), 10)
params = [(jax.random.normal(keys[i], (256, 256)) * 0.05, jnp.zeros(256)) for i in range(6)]
inputs, targets = jax.random.normal(keys[8], (128, 256)), jax.random.normal(keys[9], (128, 256))
for _ in range(STEPS):
    params, value = step(params, inputs, targets)
ordered = jnp.sort(inputs.reshape(-1))[:10].sum()
ordered.block_until_ready()
print(f"loss {float(value):.3f} scan {float(running(jnp.arange(64.0))):.3f} sort {float(ordered):.2f}")
if profile:
    jax.profiler.stop_trace()
print(f"after {float(running(jnp.arange(64.0))):.3f}")
