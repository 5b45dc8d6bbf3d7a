"""DCGAN: a generator of transposed convolutions against a discriminator, with two optimizers. Radford, Metz, Chintala,
"Unsupervised representation learning with deep convolutional generative adversarial networks", 2016."""
import torch
import torch.nn as nn


def generator(s):
    planes = s["width"] * 2 ** (s["stages"] - 1)
    layers = [nn.ConvTranspose2d(s["latent"], planes, 4, 1, 0, bias=False), nn.BatchNorm2d(planes), nn.ReLU(True)]
    for _ in range(1, s["stages"]):
        layers += [nn.ConvTranspose2d(planes, planes // 2, 4, 2, 1, bias=False), nn.BatchNorm2d(planes // 2), nn.ReLU(True)]
        planes //= 2
    return nn.Sequential(*layers, nn.ConvTranspose2d(planes, 3, 4, 2, 1, bias=False), nn.Tanh())


def discriminator(s):
    planes = s["width"]
    layers = [nn.Conv2d(3, planes, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, True)]
    for _ in range(1, s["stages"]):
        layers += [nn.Conv2d(planes, 2 * planes, 4, 2, 1, bias=False), nn.BatchNorm2d(2 * planes), nn.LeakyReLU(0.2, True)]
        planes *= 2
    return nn.Sequential(*layers, nn.Conv2d(planes, 1, 4, 1, 0, bias=False))


def setup(zoo):
    s = zoo.sizes
    nets = nn.ModuleDict({"g": generator(s), "d": discriminator(s)}).to(zoo.device)
    for m in nets.modules():
        if "Conv" in type(m).__name__:
            nn.init.normal_(m.weight, 0, 0.02)
        if "BatchNorm" in type(m).__name__:
            nn.init.normal_(m.weight, 1, 0.02)
    netG, netD = zoo.compile(nets["g"]), zoo.compile(nets["d"])
    criterion = nn.BCEWithLogitsLoss()
    optimizerD = torch.optim.Adam(nets["d"].parameters(), lr=2e-4, betas=(0.5, 0.999))
    optimizerG = torch.optim.Adam(nets["g"].parameters(), lr=2e-4, betas=(0.5, 0.999))
    image = 4 * 2 ** s["stages"]
    real = zoo.wave((s["batch"], 3, image, image)).tanh()
    ones, zeros = torch.ones(s["batch"], device=zoo.device), torch.zeros(s["batch"], device=zoo.device)
    latent, fixed_noise = (s["batch"], s["latent"], 1, 1), zoo.wave((s["batch"], s["latent"], 1, 1), 3)

    def step():
        nets["d"].zero_grad()
        with zoo.autocast():
            fake = netG(zoo.noise(latent))
            errD = criterion(netD(real).view(-1), ones) + criterion(netD(fake.detach()).view(-1), zeros)
        errD.backward()
        optimizerD.step()
        nets["g"].zero_grad()
        with zoo.autocast():
            errG = criterion(netD(fake).view(-1), ones)
        errG.backward()
        optimizerG.step()
        return errD.detach() + errG.detach()

    def infer():
        with zoo.autocast():
            return netG(fixed_noise)
    return {"module": nets, "step": step, "infer": infer}
