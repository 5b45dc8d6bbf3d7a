"""Convolutions, pools, resizing and windows as columns."""
import torch
import torch.nn.functional as F
from generate import real, values


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
    line = real(2, 4, 9)
    case("conv1d", [line, real(6, 4, 3), real(6)], padding=[1])
    case("conv1d", [line, real(6, 2, 2), None], stride=[2], dilation=[3], groups=2)
    case("conv3d", [real(1, 2, 3, 4, 5), real(4, 2, 2, 3, 2), real(4)], padding=[1, 1, 0], stride=[2, 1, 1])
    case("conv3d", [real(2, 3, 4, 4), real(2, 1, 2, 2, 2), None], groups=2, dilation=[1, 2, 3])
    case("conv_transpose1d", [line, real(4, 3, 3), real(3)], stride=[2], padding=[1], output_padding=[1])
    case("conv_transpose1d", [line, real(4, 2, 2), None], groups=2, dilation=[3], output_padding=[2])
    case("conv_transpose2d", [x, real(4, 3, 3, 2), real(3)], stride=[2, 3], padding=[1, 0])
    case("conv_transpose2d", [real(4, 3, 3), real(4, 2, 2, 2), None], groups=2, dilation=[1, 2])
    case("max_pool1d", [line], kernel_size=[3], stride=[2], padding=[1])
    case("avg_pool1d", [line], kernel_size=[4], stride=[3], padding=[2], ceil_mode=True)
    case("avg_pool1d", [line], kernel_size=[2], count_include_pad=False)
    case("avg_pool2d", [pool], kernel_size=[3, 2], stride=[2, 2], padding=[1, 1], ceil_mode=True)
    case("avg_pool2d", [pool], kernel_size=[3, 4], stride=[1, 3], padding=[1, 2], count_include_pad=False)
    case("avg_pool2d", [pool], kernel_size=[2, 2], divisor_override=3)
    case("adaptive_avg_pool1d", [line], output_size=[4])
    case("adaptive_avg_pool2d", [pool], output_size=[3, 8])
    case("adaptive_max_pool2d", [pool], output_size=[3, 4])
    case("interpolate", [pool], size=[5, 9])
    case("interpolate", [pool], scale_factor=1.7)
    case("interpolate", [line], size=[5], mode="linear")
    case("interpolate", [pool], size=[4, 11], mode="bilinear")
    case("interpolate", [pool], size=[4, 11], mode="bilinear", align_corners=True)
    case("interpolate", [pool], scale_factor=0.6, mode="bilinear")
    volume = real(1, 2, 5, 4, 3)
    for size in ([2, 3, 3], [4, 4, 4]):
        case("adaptive_avg_pool3d", [volume], output_size=size)
    # PyTorch's lp_pool1d and max_unpool take no lists of one number.
    case("lp_pool1d", [real(2, 3, 7, low=0.25)], norm_type=2.0, kernel_size=[3], stride=[2], ceil_mode=True, tolerance=4,
         by=lambda x, norm_type, kernel_size, stride, ceil_mode: F.lp_pool1d(x, norm_type, kernel_size[0], stride[0], ceil_mode))
    case("lp_pool2d", [real(2, 2, 5, 6, low=0.25)], norm_type=3.0, kernel_size=[2, 3], tolerance=4)
    case("max_unpool1d", [real(1, 2, 2), values([[[0, 3], [1, 2]]], "i64")], kernel_size=[2])
    case("max_unpool2d", [real(1, 1, 1, 2), values([[[[5, 2]]]], "i64")], kernel_size=[2, 2])
    case("max_unpool2d", [real(1, 1, 1, 2), values([[[[9, 2]]]], "i64")], kernel_size=[3, 3], stride=[2, 2],
         output_size=[3, 4])
    case("max_unpool3d", [real(1, 1, 1, 1, 2), values([[[[[5, 11]]]]], "i64")], kernel_size=[2, 2, 2])
    for mode in ("bicubic", "area", "nearest-exact"):
        case("interpolate", [pool], size=[5, 9], mode=mode)
        case("interpolate", [pool], scale_factor=1.7, mode=mode)
    case("interpolate", [pool], size=[4, 11], mode="bicubic", align_corners=True)
    case("interpolate", [pool], scale_factor=1.6, mode="bicubic")  # 1.13 copies the gradient where no size changes
    case("interpolate", [line], scale_factor=0.6, mode="nearest-exact")
    case("interpolate", [real(1, 2, 3, 4, 2)], size=[4, 3, 5], mode="trilinear", align_corners=True)
    case("interpolate", [real(1, 2, 3, 4, 2)], scale_factor=1.5, mode="trilinear")
    case("im2col", [pool], by=F.unfold, kernel_size=[3, 2], dilation=[1, 2], padding=[1, 1], stride=[2, 1])
    case("col2im", [real(2, 12, 12)], by=F.fold, output_size=[4, 5], kernel_size=[2, 2])
    for op in ["conv1d", "conv2d", "conv3d"]:
        spatial = (7, 6, 5)[:int(op[4])]
        case(op, [real(2, 3, *spatial), real(4, 3, *[2] * len(spatial)), real(4)], activation="relu",
             by=lambda x, w, b, activation, op=op: torch.relu(getattr(F, op)(x, w, b)))
