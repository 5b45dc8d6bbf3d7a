"""Fourier transforms, their short-time form and windows. Cases of small sizes come from the examples of the records too."""
import torch
from generate import parts, real


def cases(case):
    def both(op, inputs, **more):
        case(op, inputs, types="c128", **more)

    one_dim = ("fft", "ifft", "irfft", "hfft")
    for name in one_dim:
        # Lengths of each kind: chains of passes, squares, convolutions.
        for n in (1, 2, 3, 4, 7, 8, 11, 13, 30, 97, 128, 144, 169):
            both("fft." + name, [real(n)], **({"n": n} if name in ("irfft", "hfft") else {}))
        both("fft." + name, [real(2, 12, 3)], dim=1, norm="ortho")
        both("fft." + name, [real(3, 5, 20)], dim=1, n=8, norm="forward")
        both("fft." + name, [real(4, 3)], dim=0, n=3)
        case("fft." + name, [real(3, 6)], n=7)
    for name in ("rfft", "ihfft"):
        for n in (1, 2, 3, 4, 7, 8, 16, 30, 97, 144, 194, 288):
            case("fft." + name, [real(n)])
        case("fft." + name, [real(2, 12, 3)], dim=1, norm="ortho")
        case("fft." + name, [real(3, 5, 20)], dim=1, n=8, norm="forward")
        case("fft." + name, [real(4, 3)], dim=0, n=3, types="i64")
    case("fft.fft", [real(6)], types="i64 i32 u8 bool")
    case("fft.fftn", [real(2, 3)], types="i64")
    x = real(3, 4, 5)
    for name in ("fft2", "ifft2", "irfft2", "fftn", "ifftn", "irfftn"):
        both("fft." + name, [x])
        both("fft." + name, [x], s=[4, 3], dim=[2, 0], norm="ortho")
        both("fft." + name, [x], s=[-1, 6], dim=[0, 1], norm="forward")
    for name in ("rfft2", "rfftn"):
        case("fft." + name, [x])
        case("fft." + name, [x], s=[4, 3], dim=[2, 0], norm="ortho")
        case("fft." + name, [x], s=[-1, 6], dim=[0, 1], norm="forward")
    both("fft.fft2", [real(0, 3, 4)])
    for name in ("fftfreq", "rfftfreq"):
        case("fft." + name, [], floats=False, types="f32", n=7, d=0.25)
        case("fft." + name, [], floats=False, types="f64", n=8, d=2.0, dtype="f64")
    for name in ("fftshift", "ifftshift"):
        case("fft." + name, [real(4, 5)])
        both("fft." + name, [real(4, 5)], dim=[1])

    def stft(input, window, return_complex=True, **more):
        return torch.stft(input, window=window, return_complex=return_complex, **more)

    def istft(input, window, **more):
        return torch.istft(input, window=window, **more)

    for more in ({}, {"hop_length": 3}, {"win_length": 5}, {"center": False}, {"pad_mode": "constant"},
                 {"normalized": True}, {"onesided": False}, {"return_complex": False}):
        case("stft", [real(2, 24), real(more.get("win_length", 8), low=0.5)], by=stft, n_fft=8, **more)
    case("stft", [real(24), None], by=stft, n_fft=7)
    both("stft", [real(24), parts(8, low=0.5)], by=stft, n_fft=8, center=False)
    for more in ({}, {"win_length": 6, "hop_length": 2}, {"center": False}, {"normalized": True}, {"length": 14},
                 {"onesided": True}):
        both("istft", [real(2, 5, 6), parts(more.get("win_length", 8), low=0.5)], by=istft, n_fft=8, **more)
    both("istft", [real(8, 6), None], by=istft, n_fft=8, return_complex=True)
    both("istft", [real(8, 6), None], by=istft, n_fft=8, onesided=False)

    for name in ("hann", "hamming", "blackman", "bartlett", "kaiser"):
        for length in (0, 1, 2, 9):
            case(name + "_window", [], floats=False, types="f64", window_length=length)
            case(name + "_window", [], floats=False, types="f64", window_length=length, periodic=False, dtype="f64")
    case("kaiser_window", [], floats=False, types="f64", window_length=9, periodic=True, beta=3.0, dtype="f64")
    case("hamming_window", [], floats=False, types="f64", window_length=9, periodic=True, alpha=0.5, beta=0.25, dtype="f64")
