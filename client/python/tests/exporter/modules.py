"""Modules as people write them: the kinds seen in public code, in our words, with random weights."""

import torch
import torch.nn.functional as F
from torch import nn


def _shaken(module):
    """With running statistics and norms that are not the identity."""
    for child in module.modules():
        if isinstance(child, (nn.BatchNorm1d, nn.LayerNorm)) and child.weight is not None:
            nn.init.uniform_(child.weight, 0.5, 2), nn.init.normal_(child.bias)
        if isinstance(child, nn.BatchNorm1d):
            nn.init.normal_(child.running_mean), nn.init.uniform_(child.running_var, 0.5, 2)
    return module


class Flat(nn.Module):
    def __init__(self, activation=F.elu, width=784):
        super().__init__()
        self.fc1, self.fc21, self.fc22 = nn.Linear(width + 10, 400), nn.Linear(400, 20), nn.Linear(400, 20)
        self.fc3, self.fc4, self.activation, self.width = nn.Linear(30, 400), nn.Linear(400, width), activation, width

    def encode(self, x, y):
        h = self.activation(self.fc1(torch.cat([x, y], 1)))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z, y):
        return torch.sigmoid(self.fc4(self.activation(self.fc3(torch.cat([z, y], 1)))))

    def forward(self, x, y):
        mu, logvar = self.encode(x.view(-1, self.width), y)
        return self.decode(self.reparameterize(mu, logvar), y), mu, logvar


class Embedded(Flat):
    def __init__(self):
        super().__init__(F.relu)
        self.label_emb = nn.Embedding(10, 10)

    def forward(self, x, y):
        return super().forward(x, self.label_emb(y))


class Tabular(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(29, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.mu, self.logvar = nn.Linear(64, 8), nn.Linear(64, 8)
        self.dec = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 24))

    def forward(self, x, y):
        h = self.enc(torch.cat((x, y), dim=-1))
        mu, logvar = self.mu(h), self.logvar(h)
        z = torch.distributions.Normal(mu, (0.5 * logvar).exp()).rsample() if False else mu + (logvar / 2).exp() * torch.randn(mu.shape)
        return self.dec(torch.cat((z, y), dim=-1)), mu, logvar


class Template(nn.Module):
    class Half(nn.Module):
        def __init__(self, sizes, heads, last):
            super().__init__()
            self.MLP = nn.Sequential()
            for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
                self.MLP.add_module(f"L{i}", nn.Linear(a, b))
                self.MLP.add_module(f"A{i}", last if i + 2 == len(sizes) else nn.ReLU())
            if heads:
                self.linear_means, self.linear_log_var = nn.Linear(sizes[-1], 2), nn.Linear(sizes[-1], 2)

        def forward(self, v, c):
            v = self.MLP(torch.cat((v, F.one_hot(c, 10).to(v.dtype)), dim=-1))
            return (self.linear_means(v), self.linear_log_var(v)) if hasattr(self, "linear_means") else v

    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = self.Half([794, 256], True, nn.ReLU()), self.Half([12, 256, 784], False, nn.Sigmoid())

    def forward(self, x, c):
        if x.dim() > 2:
            x = x.view(-1, 784)
        means, log_var = self.encoder(x, c)
        z = means + torch.randn_like(log_var) * torch.exp(0.5 * log_var)
        return self.decoder(z, c), means, log_var, z


class Normed(nn.Module):
    def __init__(self, noise=1.0):
        super().__init__()
        block = lambda a, b: [nn.Linear(a, b), nn.BatchNorm1d(b), nn.LeakyReLU(0.2), nn.Dropout(0.2)]
        self.encoder, self.noise = nn.Sequential(*block(13, 512), *block(512, 256)), noise
        self.fc_mu, self.fc_logvar = nn.Linear(256, 16), nn.Linear(256, 16)
        self.decoder = nn.Sequential(*block(19, 256), *block(256, 512), nn.Linear(512, 10))
        _shaken(self)

    def forward(self, x, y):
        h = self.encoder(torch.cat([x, y], 1))
        mu, logvar = self.fc_mu(h), self.fc_logvar(h)
        std = torch.exp(0.5 * logvar)
        z = mu + std * (torch.randn_like(std) if self.noise == 1 else torch.randn_like(std) * self.noise)
        return self.decoder(torch.cat([z, y], 1)), mu, logvar


class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(11, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
        self.decoder = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x, y):
        h = self.encoder(torch.cat([y, x], 1))
        mu, logvar = h[:, :1], h[:, 1:]
        return self.decoder(torch.cat([y, mu + torch.exp(logvar * 0.5) * torch.randn_like(mu)], 1)), mu, logvar


class Wide(nn.Module):
    def __init__(self, d=633, h=(102, 51), z=12):
        super().__init__()
        block = lambda a, b: [nn.Linear(a, b), nn.ReLU(), nn.LayerNorm(b)]
        self.encoder = nn.Sequential(*block(d + 7, h[0]), *block(*h), nn.Linear(h[1], 2 * z))
        self.decoder = nn.Sequential(*block(z + 7, h[1]), *block(h[1], h[0]), nn.Linear(h[0], d))
        _shaken(self)

    def forward(self, x, y):
        mu, logvar = self.encoder(torch.cat([x, y], -1)).chunk(2, dim=-1)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu) if self.training else mu
        return self.decoder(torch.cat([z, y], -1)), mu, logvar


class Action(nn.Module):
    def __init__(self):
        super().__init__()
        self.e1, self.e2, self.mean, self.log_std = nn.Linear(23, 750), nn.Linear(750, 750), nn.Linear(750, 12), nn.Linear(750, 12)
        self.d1, self.d2, self.d3, self.max_action = nn.Linear(29, 750), nn.Linear(750, 750), nn.Linear(750, 6), 2.0

    def forward(self, state, action):
        h = F.relu(self.e2(F.relu(self.e1(torch.cat([state, action], 1)))))
        mean = self.mean(h)
        std = torch.exp(self.log_std(h).clamp(-4, 15))
        return self.decode(state, mean + std * torch.randn_like(std)), mean, std

    def decode(self, state, z=None):
        if z is None:
            z = torch.randn((state.shape[0], 12)).clamp(-0.5, 0.5)
        return self.max_action * torch.tanh(self.d3(F.relu(self.d2(F.relu(self.d1(torch.cat([state, z], 1)))))))


class Small(nn.Module):
    """D 6, L 3, Z 2, with the ways that it may differ."""

    def __init__(self, hidden=None, sigma=None, last=None, reparameterize=None, y_into_encoder=True, bias=True):
        super().__init__()
        self.hidden = hidden or nn.Sequential(nn.Linear(9 if y_into_encoder else 6, 5, bias=bias), nn.ReLU())
        self.mu, self.spread = nn.Linear(5, 2), nn.Linear(5, 2)
        self.out, self.y_into_encoder = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 6), *([last] if last else [])), y_into_encoder
        self.sigma = sigma or (lambda v: torch.exp(v / 2))
        self.draw = reparameterize or (lambda mu, sigma: mu + sigma * torch.randn_like(mu))

    def encode(self, x, y):
        h = self.hidden(torch.cat([x, y], 1) if self.y_into_encoder else x)
        return self.mu(h), self.spread(h)

    def decode(self, z, y):
        return self.out(torch.cat([z, y], 1))

    def forward(self, x, y):
        mu, spread = self.encode(x, y)
        return self.decode(self.draw(mu, self.sigma(spread)), y)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(9, 5), nn.Linear(5, 8), nn.Linear(8, 5)

    def forward(self, v):
        v = F.silu(self.a(v))
        return v + self.c(F.gelu(self.b(v)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(9, 5)

    def forward(self, v):
        return self.lstm(v[None])[0][0]


class Branch(nn.Module):
    def forward(self, v):
        return v[:, :5] if v.sum() > 0 else v[:, 4:]


class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 1, 5)

    def forward(self, v):
        return self.conv1(v[:, None])[:, 0]
