"""PyTorch on the same model and batches as cuda_engine_bench, one line each:

    eager shape=256/10/128/32 B=64 device_us=... sync_us=...

device: forward and losses, the queue kept full; sync: one call and its synchronization. Medians. The forms: eager in fp32
and tf32, a CUDA graph of eager, torch.compile in mode reduce-overhead (slow to start: only with --compile).

    python3 tests/bench/torch_bench.py [--compile] D L H Z B...
"""

import sys
import time

import torch


class Cvae(torch.nn.Module):
    def __init__(self, d, l, h, z):
        super().__init__()
        self.enc = torch.nn.Linear(d + l, h)
        self.mu = torch.nn.Linear(h, z)
        self.logvar = torch.nn.Linear(h, z)
        self.dec1 = torch.nn.Linear(z + l, h)
        self.dec2 = torch.nn.Linear(h, d)

    def forward(self, x, y):
        h = torch.relu(self.enc(torch.cat([x, y], 1)))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        x_hat = self.dec2(torch.relu(self.dec1(torch.cat([z, y], 1))))
        recon = ((x_hat - x) ** 2).sum(1)
        kl = 0.5 * (mu * mu + torch.exp(logvar) - 1 - logvar).sum(1)
        return x_hat, mu, logvar, recon, kl


def median(values):
    return sorted(values)[len(values) // 2]


def measure(call, rows):
    for _ in range(10):
        call()
    torch.cuda.synchronize()
    calls = 20 if rows >= 4096 else 100
    device = []
    for _ in range(9):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        torch.cuda.synchronize()
        device.append(begin.elapsed_time(end) * 1000 / calls)
    sync = []
    for _ in range(51):
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        sync.append((time.perf_counter() - start) * 1e6)
    return median(device), median(sync)


def graph_of(model, x, y):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(x, y)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x, y)
    return graph.replay


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    d, l, h, z, *batches = map(int, arguments)
    torch.manual_seed(1)
    model = Cvae(d, l, h, z).cuda().eval()
    for rows in batches:
        x = torch.randn(rows, d, device="cuda")
        y = torch.nn.functional.one_hot(torch.randint(0, l, (rows,), device="cuda"), l).float()
        forms = {}
        with torch.no_grad():
            torch.backends.cuda.matmul.allow_tf32 = False
            forms["eager"] = measure(lambda: model(x, y), rows)
            forms["graph"] = measure(graph_of(model, x, y), rows)
            if "--compile" in sys.argv:
                torch._dynamo.reset()
                compiled = torch.compile(model, mode="reduce-overhead")
                forms["compile"] = measure(lambda: compiled(x, y), rows)
            torch.backends.cuda.matmul.allow_tf32 = True
            forms["eager_tf32"] = measure(lambda: model(x, y), rows)
        for name, (device, sync) in forms.items():
            print(f"{name} shape={d}/{l}/{h}/{z} B={rows} device_us={device:.2f} sync_us={sync:.1f}", flush=True)


if __name__ == "__main__":
    main()
