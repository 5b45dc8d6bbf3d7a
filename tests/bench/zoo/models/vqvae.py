"""An autoencoder of images whose latents are entries of a codebook. Van den Oord, Vinyals, Kavukcuoglu, "Neural discrete
representation learning", 2017."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Residual(nn.Module):
    def __init__(self, planes, hidden):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(planes, hidden, 3, padding=1, bias=False), nn.Conv2d(hidden, planes, 1, bias=False)

    def forward(self, x):
        return x + self.conv2(F.relu(self.conv1(F.relu(x))))


def residuals(planes, hidden, count):
    return nn.Sequential(*(Residual(planes, hidden) for _ in range(count)), nn.ReLU())


class Quantizer(nn.Module):
    def __init__(self, codes, features):
        super().__init__()
        self.codebook = nn.Embedding(codes, features)
        nn.init.uniform_(self.codebook.weight, -1 / codes, 1 / codes)

    def forward(self, z):
        """The nearest codes, with the gradient of z, and the loss that brings both together."""
        B, C, H, W = z.shape
        flat = z.permute(0, 2, 3, 1).reshape(-1, C)
        nearest = torch.cdist(flat, self.codebook.weight).argmin(1)
        q = self.codebook(nearest).view(B, H, W, C).permute(0, 3, 1, 2)
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss


class VQVAE(nn.Module):
    def __init__(self, s):
        super().__init__()
        w, hidden = s["width"], s["width"] // 4
        self.encoder = nn.Sequential(nn.Conv2d(3, w // 2, 4, 2, 1), nn.ReLU(), nn.Conv2d(w // 2, w, 4, 2, 1), nn.ReLU(),
                                     nn.Conv2d(w, w, 3, padding=1), residuals(w, hidden, s["blocks"]),
                                     nn.Conv2d(w, s["features"], 1))
        self.quantizer = Quantizer(s["codes"], s["features"])
        self.decoder = nn.Sequential(nn.Conv2d(s["features"], w, 3, padding=1), residuals(w, hidden, s["blocks"]),
                                     nn.ConvTranspose2d(w, w // 2, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(w // 2, 3, 4, 2, 1))

    def forward(self, x):
        q, loss = self.quantizer(self.encoder(x))
        return self.decoder(q), loss


def setup(zoo):
    s = zoo.sizes
    module = VQVAE(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.Adam(module.parameters(), lr=3e-4)
    x = zoo.wave((s["batch"], 3, s["image"], s["image"])).tanh()

    def loss():
        y, commitment = model(x)
        return F.mse_loss(y, x) + commitment
    return zoo.training(module, optimizer, loss, lambda: model(x)[0])
