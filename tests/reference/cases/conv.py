"""Convolutions and pools."""
import torch
import torch.nn.functional as F
from generate import real


def cases(case):
    x, w, b = real(2, 4, 6, 5), real(6, 4, 3, 3), real(6)
    case("conv2d", [x, w, b])
    case("conv2d", [x, w, None], padding=[1, 2], stride=[2, 1])
    case("conv2d", [x, real(4, 2, 3, 2), real(4)], groups=2, padding=[1, 1])
    case("conv2d", [x, real(4, 1, 2, 2), None], groups=4, stride=[2, 2])
    case("conv2d", [real(1, 2, 7, 8), real(3, 2, 3, 2), real(3)], dilation=[2, 3], padding=[2, 0])
    case("conv2d", [x, real(3, 4, 1, 1), real(3)])
    case("conv2d", [real(2, 5, 5), real(3, 2, 3, 3), real(3)], padding=[1, 1])
    pool = real(1, 2, 7, 6)
    case("max_pool2d", [pool], kernel_size=[2, 2])
    case("max_pool2d", [pool], kernel_size=[3, 2], stride=[2, 1], padding=[1, 1])
    case("max_pool2d", [pool], kernel_size=[3, 3], stride=[2, 2], ceil_mode=True)
    case("max_pool2d", [pool], kernel_size=[2, 2], stride=[1, 1], dilation=[2, 3])
    case("max_pool2d", [real(2, 5, 5)], kernel_size=[2, 2], stride=[2, 2], padding=[1, 1], ceil_mode=True)
