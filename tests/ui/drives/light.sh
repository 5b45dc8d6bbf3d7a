# light.sh WORKBENCH SCRIPT: the script pauses itself. Fails if the paused window takes 2 % of a core, or if the window does
# not react to a key afterwards.
"$1" "$2" --size 1280x800 &
window=$!
spent() { awk '{ print $14 + $15 }' "/proc/$window/stat"; }
for _ in $(seq 100); do
  id=$(xdotool search --class lunagrad-workbench | head -n 1) && [ -n "$id" ] && break
  sleep 0.1
done
sleep 3
paused=$(spent)
sleep 5
ticks=$(($(spent) - paused))
echo "idle: $ticks of 500 ticks"
xdotool windowfocus "$id" key --delay 1 F5
sleep 2
running=$(($(spent) - paused - ticks))
echo "running: $running of 200 ticks"
kill "$window"
wait "$window"
[ "$ticks" -lt 10 ] && [ "$running" -gt 20 ]
