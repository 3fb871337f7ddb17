"""Programs that are limited by the host, for the step `decode` of scripts/gpu-check: GPT-2 (random weights, fp16)
decodes greedily, one token a step.

decode_app.py eager|graph|server [--profile cpu+cuda]
    prints "ready"; then each "loop N" of standard input decodes N tokens, or answers N requests (server), and is
    answered with one line of JSON with the time for each, in ns
"""
import argparse
import asyncio
import contextlib
import json
import sys
import threading
import time

import torch
from torch import nn

LAYERS, WIDTH, HEADS, VOCABULARY, LONGEST = 12, 768, 12, 50257, 128


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        shape = (1, HEADS, LONGEST, WIDTH // HEADS)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))

    def forward(self, x, at, mask):
        """x: (1, 1, WIDTH); at: (1,), the position; mask: (1, 1, 1, LONGEST), true up to the position"""
        q, k, v = (part.view(1, 1, HEADS, WIDTH // HEADS).transpose(1, 2) for part in self.qkv(self.before(x)).chunk(3, dim=-1))
        self.keys.index_copy_(2, at, k)
        self.values.index_copy_(2, at, v)
        y = nn.functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).reshape(1, 1, WIDTH))
        return x + self.down(nn.functional.gelu(self.up(self.after(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.register_buffer("numbers", torch.arange(LONGEST))

    def forward(self, token, at):
        mask = (self.numbers <= at).view(1, 1, 1, LONGEST)
        x = self.tokens(token).view(1, 1, WIDTH) + self.places(at).view(1, 1, WIDTH)
        for block in self.blocks:
            x = block(x, at, mask)
        logits = self.norm(x).view(1, WIDTH) @ self.tokens.weight.t()
        return logits.argmax(dim=-1)


class Decoder:
    def __init__(self, graph):
        torch.manual_seed(7)
        self.model = Gpt2().cuda().half().eval()
        self.token = torch.zeros(1, dtype=torch.long, device="cuda")
        self.at = torch.zeros(1, dtype=torch.long, device="cuda")
        self.steps = 0
        self.captured = None
        for _ in range(3):
            self.step()
        torch.cuda.synchronize()
        if graph:
            captured = torch.cuda.CUDAGraph()
            with torch.cuda.graph(captured):
                self.step()
            self.captured = captured

    def step(self):
        self.token.copy_(self.model(self.token, self.at))
        self.at.add_(1).remainder_(LONGEST)

    def decode(self, count):
        """The tokens as Python numbers: each is read before the next step, as in a program that looks for an end."""
        found = []
        for _ in range(count):
            if self.captured is not None:
                self.captured.replay()
            else:
                self.step()
            found.append(int(self.token))
        return found


class Server:
    """Requests with a text each come over a socket, are split into words by Python, and get four decoded tokens."""

    def __init__(self, decoder):
        self.decoder = decoder
        self.port = 0
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.client(ready)), daemon=True).start()
        ready.wait()

    async def client(self, ready):
        """The clients are in a thread of their own; the server is the main thread."""
        self.loop = asyncio.get_running_loop()
        ready.set()
        await asyncio.Event().wait()

    @staticmethod
    def tokenize(text):
        known = {}
        return [known.setdefault(word, len(known)) for word in text.lower().split()]

    async def handle(self, reader, writer):
        while line := await reader.readline():
            words = self.tokenize(json.loads(line)["text"])
            tokens = self.decoder.decode(4)
            writer.write(json.dumps({"words": len(words), "tokens": tokens}).encode() + b"\n")
            await writer.drain()
        writer.close()

    async def ask(self, port, count):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        text = json.dumps({"text": "the quick brown fox jumps over the lazy dog " * 40}).encode() + b"\n"
        for _ in range(count):
            writer.write(text)
            await reader.readline()
        writer.close()

    async def serve(self, count):
        server = await asyncio.start_server(self.handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self.ask(port, count), self.loop))
        server.close()

    def decode(self, count):
        asyncio.run(self.serve(count))


def main():
    torch.set_grad_enabled(False)
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["eager", "graph", "server"])
    parser.add_argument("--profile", choices=["none", "cpu+cuda"], default="none")
    options = parser.parse_args()
    from torch.profiler import ProfilerActivity, profile
    decoder = Decoder(options.mode == "graph")
    work = Server(decoder) if options.mode == "server" else decoder
    work.decode(20)
    torch.cuda.synchronize()
    print("ready", flush=True)
    for line in sys.stdin:
        command, *words = line.split()
        if command != "loop":
            break
        count = int(words[-1])
        watch = (profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) if options.profile != "none"
                 else contextlib.nullcontext())
        with watch:
            work.decode(1)
            torch.cuda.synchronize()
            begin = time.perf_counter_ns()
            work.decode(count)
            torch.cuda.synchronize()
            answer = {"wall_ns": (time.perf_counter_ns() - begin) / count}
        print(json.dumps(answer), flush=True)
        del watch


main()
