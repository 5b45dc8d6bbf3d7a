"""A U-Net of volumes, which segments them. Çiçek and others, "3D U-Net: learning dense volumetric segmentation from sparse
annotation", 2016."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def double(inplanes, planes):
    return nn.Sequential(nn.Conv3d(inplanes, planes, 3, padding=1), nn.InstanceNorm3d(planes, affine=True), nn.LeakyReLU(0.01),
                         nn.Conv3d(planes, planes, 3, padding=1), nn.InstanceNorm3d(planes, affine=True), nn.LeakyReLU(0.01))


class UNet3d(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.down, self.up, planes = nn.ModuleList(), nn.ModuleList(), s["modalities"]
        for level in range(s["levels"]):
            self.down.append(double(planes, s["width"] << level))
            planes = s["width"] << level
        for level in reversed(range(s["levels"] - 1)):
            self.up.append(double(planes + (s["width"] << level), s["width"] << level))
            planes = s["width"] << level
        self.last = nn.Conv3d(planes, s["classes"], 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool3d(x, 2) if i else x)
            skips.append(x)
        skips.pop()
        for block in self.up:
            x = F.interpolate(x, scale_factor=2, mode="trilinear", align_corners=False)
            x = block(torch.cat((skips.pop(), x), 1))
        return self.last(x)


def dice_loss(logits, y, classes):
    p, target = F.softmax(logits, 1), F.one_hot(y, classes).permute(0, 4, 1, 2, 3).float()
    both, either = (p * target).sum((2, 3, 4)), (p + target).sum((2, 3, 4))
    return 1 - ((2 * both + 1) / (either + 1)).mean()


def setup(zoo):
    s = zoo.sizes
    module = UNet3d(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4)
    volume = (s["volume"],) * 3
    x, y = zoo.wave((s["batch"], s["modalities"], *volume)), zoo.ids((s["batch"], *volume), s["classes"])

    def loss():
        logits = model(x)
        return F.cross_entropy(logits, y) + dice_loss(logits, y, s["classes"])
    return zoo.training(module, optimizer, loss, lambda: model(x))
