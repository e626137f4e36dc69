#!/bin/bash
# Records what real tools print, one file a tool, in the folder this stands in. The first line of a file is the command.
# Debian: rsync pv wget curl restic borgbackup ninja-build p7zip-full aria2 rclone git apt apt-utils dpkg tar coreutils unattended-upgrades
# docker.io docker-registry busybox-static, with a daemon that DOCKER_HOST names, whose images are removed;
# PyPI: tqdm rich imageio-ffmpeg (ffmpeg) cmake yt-dlp pytest, in the environment that $VENV names.
set -u
corpus=$(cd "$(dirname "$0")" && pwd)
cd "$(mktemp -d)" || exit 1
export FFMPEG=$("$VENV/bin/python" -c 'import imageio_ffmpeg as f; print(f.get_ffmpeg_exe())')
head -c 60M /dev/urandom >big; mkdir files; for i in $(seq 60); do head -c 300K big >"files/$i"; done
python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & server=$!
trap 'kill $server' EXIT
until curl -sf -o /dev/null http://127.0.0.1:8123/files/1; do :; done
record() { # NAME COMMAND: standard output and error together, bounded
    { printf '# %s\n' "$2"; bash -c "$2" 2>&1 | tail -c 24000 | sed "s:$PWD:/home/user/work:g; s:$VENV:/home/user/venv:g; s:$HOME:/home/user:g; s|http[s]*://[a-z.]*/debian|http://deb.example.org/debian|g"; } >"$corpus/$1.txt"
}
record rsync 'rsync -a --bwlimit=8000 --info=progress2 --no-i-r files/ copy/'
record pv 'pv -f -i 0.2 -L 20M -s 60M big >/dev/null'
record pv-n 'pv -n -i 0.2 -L 20M -s 60M big >/dev/null'
record wget 'wget --limit-rate=20M --progress=bar:force:noscroll -O /dev/null http://127.0.0.1:8123/big'
record wget-dot 'wget --limit-rate=20M --progress=dot:mega -O /dev/null http://127.0.0.1:8123/big'
record curl 'curl --limit-rate 10M -o /dev/null http://127.0.0.1:8123/big'
record curl-bar 'curl -# --limit-rate 10M -o /dev/null http://127.0.0.1:8123/big'
record aria2c 'aria2c --summary-interval=1 --max-download-limit=10M -d /tmp --allow-overwrite=true -o aria.big --file-allocation=none http://127.0.0.1:8123/big'
export RESTIC_PASSWORD=x RESTIC_REPOSITORY=$PWD/restic BORG_REPO=$PWD/borg BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes
restic init -q; borg init -e none 2>/dev/null
record restic 'RESTIC_PROGRESS_FPS=20 restic backup --json --limit-upload 20000 big files'
record borg 'borg create --log-json --progress ::a big files'
record borg-check 'borg check --log-json --progress --verify-data'
record rclone 'rclone copy --use-json-log --stats 500ms --stats-log-level NOTICE --bwlimit 15M big out/'
record ffmpeg '"$FFMPEG" -hide_banner -y -f lavfi -i testsrc=duration=40:size=320x240 -t 40 a.mp4 >/dev/null 2>&1; "$FFMPEG" -hide_banner -y -i a.mp4 -vf scale=640:480 b.mp4'
git init -q repo && cp -r files repo && git -C repo add . && git -C repo -c user.name=a -c user.email=a@b commit -qm a
record git 'git clone --progress --no-local repo clone'
record tqdm '"$VENV/bin/python" -c "import time, tqdm; [time.sleep(0.02) for _ in tqdm.tqdm(range(100), desc=\"scan\")]"'
record rich '"$VENV/bin/python" -c "
import time
from rich.console import Console
from rich.progress import Progress
with Progress(console=Console(force_terminal=True, width=80)) as p:
    t = p.add_task(\"scan\", total=60)
    for _ in range(60): time.sleep(0.03); p.advance(t)
"'
printf 'rule s\n  command = touch $out\n' >build.ninja; for i in $(seq 40); do echo "build o$i: s" >>build.ninja; done
record ninja 'ninja -j1'
mkdir c && echo 'int main(){return 0;}' >c/m.c && printf 'project(x C)\nadd_executable(a m.c)\nadd_executable(b m.c)\nadd_executable(d m.c)\n' >c/CMakeLists.txt
record cmake '"$VENV/bin/cmake" -S c -B cb -G "Unix Makefiles" && "$VENV/bin/cmake" --build cb'
mkdir t && for i in $(seq 12); do echo "def test_a(): pass" >t/test_$i.py; done
record pytest '"$VENV/bin/python" -m pytest -v t'
record 7z '7z a -bsp1 -mx=5 x.7z big files'
record tar 'tar --checkpoint=200 -cf /dev/null big files'
record dd 'pv -q -L 15M big | dd of=/dev/null bs=64k iflag=fullblock status=progress'
record apt 'apt-get -o APT::Status-Fd=1 -o Dpkg::Use-Pty=0 -y install --reinstall hello'
apt-get download hello >/dev/null 2>&1
record dpkg 'dpkg --status-fd 1 -i hello_*.deb'
record pip '"$VENV/bin/pip" install --no-cache-dir --force-reinstall --no-deps pygments'
record tap 'echo 1..5; for i in 1 2 3 4 5; do echo "ok $i - step"; done'
# Six packages of a repository of its own, which take a second each; nothing of the system is upgraded.
mkdir -p repo lists/partial cache/archives/partial; for v in 1 2; do for p in one two three four five six; do
    d=build/$p-$v; mkdir -p "$d/DEBIAN"; printf '#!/bin/sh\nsleep 1\n' >"$d/DEBIAN/postinst"; chmod 755 "$d/DEBIAN/postinst"
    printf 'Package: sample-%s\nVersion: %s\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: sample\n' "$p" "$v" >"$d/DEBIAN/control"
    dpkg-deb --build "$d" "repo/sample-${p}_${v}_all.deb" >/dev/null
done; done
(cd repo && apt-ftparchive packages . >Packages && apt-ftparchive -o APT::FTPArchive::Release::Origin=Sample release . >Release)
dpkg -i repo/*_1_all.deb >/dev/null
echo "deb [trusted=yes] file:$PWD/repo ./" >sources.list
cat >apt.conf <<EOF
Dir::Etc::sourcelist "$PWD/sources.list"; Dir::Etc::sourceparts "-"; Dir::State::lists "$PWD/lists"; Dir::Cache "$PWD/cache";
Unattended-Upgrade::Origins-Pattern { "origin=Sample"; }; Unattended-Upgrade::MinimalSteps "false";
EOF
export APT_CONFIG=$PWD/apt.conf; apt-get update >/dev/null
record unattended-upgrades 'unattended-upgrade --verbose & while kill -0 $! 2>/dev/null; do cat /run/unattended-upgrades.progress && echo; sleep 0.2; done'
unset APT_CONFIG; dpkg -P sample-one sample-two sample-three sample-four sample-five sample-six >/dev/null
# An image of five layers in a registry of its own; each recording begins without it.
mkdir d && cp "$(command -v busybox)" d/ && for i in 1 2 3; do head -c 3M big >d/part$i; dd if=/dev/urandom of=d/part$i bs=1k count=1 conv=notrunc status=none; done
printf 'FROM scratch\nCOPY busybox /bin/sh\nCOPY busybox /bin/sleep\nCOPY part1 /a\nCOPY part2 /b\nCOPY part3 /c\n' >d/base
printf 'FROM 127.0.0.1:5000/base\nCOPY part1 /srv/\nRUN for i in 1 2 3; do echo step $i; sleep 1; done\n' >d/Dockerfile
printf 'version: 0.1\nstorage: { filesystem: { rootdirectory: %s/registry } }\nhttp: { addr: 127.0.0.1:5000 }\n' "$PWD" >registry.yml
docker-registry serve registry.yml >/dev/null 2>&1 & registry=$!
trap 'kill $server $registry' EXIT
until curl -sf -o /dev/null http://127.0.0.1:5000/v2/; do :; done
DOCKER_BUILDKIT=0 docker build -q -t 127.0.0.1:5000/base -f d/base d >/dev/null && docker push -q 127.0.0.1:5000/base >/dev/null
docker system prune -af >/dev/null
record docker-pull 'docker pull 127.0.0.1:5000/base'; docker system prune -af >/dev/null
record docker-build 'DOCKER_BUILDKIT=0 docker build --network none -t sample d'; docker system prune -af >/dev/null
record docker-buildkit 'DOCKER_BUILDKIT=1 docker build --progress=plain --network none -t sample d'; docker system prune -af >/dev/null
