#!/usr/bin/env python3
"""Checks the trace of lanes.lua: rank 1 sleeps 50 ms in each step and 20 ms before it sends, so rank 0 waits for it. lanes.py TRACE."""
import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
lanes = {"rank 0": [], "rank 1": []}
transfers = {"rank 0": [], "rank 1": []}
pairs = {"rank 0": {}, "rank 1": {}}  # of sends and receives: the begin and the end
for event in events:
    rank = names.get(event.get("pid"))
    if event.get("cat") == "rank":
        lanes[rank].append(event)
    elif event.get("cat") == "transfer" and event["ph"] in "be":
        pairs[rank].setdefault(event["id"], {})[event["ph"]] = event
    elif event.get("cat") == "transfer":
        transfers[rank].append(event)

times = {}
for rank, blocks in lanes.items():
    assert blocks, f"{rank} has no lane"
    times[rank] = {kind: sum(b["dur"] for b in blocks if b["name"] == kind) for kind in ("compute", "communication", "waiting")}
    # The parts of a step follow one another: their sum is the time that they span, less the time between the steps.
    blocks.sort(key=lambda b: b["ts"])
    gaps = sum(max(0, b["ts"] - (a["ts"] + a["dur"])) for a, b in zip(blocks, blocks[1:]))
    overlap = sum(max(0, a["ts"] + a["dur"] - b["ts"]) for a, b in zip(blocks, blocks[1:]))
    span = blocks[-1]["ts"] + blocks[-1]["dur"] - blocks[0]["ts"]
    assert overlap < 0.01 * span, f"{rank}: parts overlap by {overlap} of {span} us"
    assert abs(sum(times[rank].values()) - (span - gaps)) < 0.01 * span, f"{rank}: {times[rank]} do not add up to {span - gaps} us"

steps = len({t["args"]["step"] for t in transfers["rank 0"]})
assert steps >= 5, f"{steps} steps were measured"
assert times["rank 1"]["compute"] >= 65000 * steps, f"rank 1 computes {times['rank 1']['compute']} us in {steps} steps"
assert times["rank 0"]["waiting"] > 0.5 * 65000 * steps, f"rank 0 waits {times['rank 0']['waiting']} us in {steps} steps"
assert times["rank 1"]["waiting"] < 0.2 * times["rank 0"]["waiting"], f"rank 1 waits {times['rank 1']['waiting']} us"
# Aligned clocks: a collective is on its way on both ranks at the same time.
first = {t["args"]["step"]: t for t in transfers["rank 0"] if t["name"] == "all_reduce"}
for transfer in transfers["rank 1"]:
    other = first.get(transfer["args"]["step"])
    if other and transfer["name"] == "all_reduce" and "bucket" in transfer["args"]["what"]:
        assert abs(other["ts"] - transfer["ts"]) < 20000, f"step {transfer['args']['step']}: met at {other['ts']} and {transfer['ts']} us"
named = [t for t in transfers["rank 0"] if "gradients of" in t["args"]["what"] and "bucket 1 of" in t["args"]["what"]]
assert named and all(t["args"]["bytes"] > 0 and "lanes.lua" in t["args"]["line"] for t in named), "transfers are not explained"
for rank, op in (("rank 0", "receive"), ("rank 1", "send")):
    own = pairs[rank].values()
    assert len(own) >= 5 and all(p["b"]["name"] == op and p["b"]["args"]["bytes"] == 4000 for p in own), f"{rank}: {op} is not explained"
    assert all(p["b"]["ts"] <= p["e"]["ts"] for p in own), f"{rank}: a {op} ends before it begins"
waited = sum(p["b"]["args"]["waited_us"] for p in pairs["rank 0"].values())
assert waited >= 19000 * len(pairs["rank 0"]), f"rank 0 waits {waited} us to receive {len(pairs['rank 0'])} tensors"
