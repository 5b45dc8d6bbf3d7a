"""A variational autoencoder of images. Kingma, Welling, "Auto-encoding variational Bayes", 2014."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.fc1 = nn.Linear(s["pixels"], s["hidden"])
        self.fc21, self.fc22 = nn.Linear(s["hidden"], s["latent"]), nn.Linear(s["hidden"], s["latent"])
        self.fc3, self.fc4 = nn.Linear(s["latent"], s["hidden"]), nn.Linear(s["hidden"], s["pixels"])

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def decode(self, z):
        return self.fc4(F.relu(self.fc3(z)))

    def forward(self, x, noise):
        mu, logvar = self.encode(x)
        z = mu + noise * torch.exp(0.5 * logvar)
        return self.decode(z), mu, logvar


def setup(zoo):
    s = zoo.sizes
    module = VAE(s).to(zoo.device)
    model, decode = zoo.compile(module), zoo.compile(module.decode)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
    x, z = zoo.wave((s["batch"], s["pixels"])).sigmoid(), zoo.wave((s["batch"], s["latent"]), 3)

    def loss():
        recon, mu, logvar = model(x, zoo.noise((s["batch"], s["latent"])))
        bce = F.binary_cross_entropy_with_logits(recon, x, reduction="sum")
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return (bce + kld) / s["batch"]
    return zoo.training(module, optimizer, loss, lambda: decode(z).sigmoid())
