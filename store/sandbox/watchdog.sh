# Ends a throwaway PostgreSQL server when the process that started it is gone.
#
#   sh watchdog.sh DIRECTORY OWNER FILE
#
# Standard input is a pipe whose other end only the starter holds, so that its end, by kill -9 too, is
# the end of the pipe. Until then the starter tells on it what there is to end:
#   setup PID    PID is initdb, and leads a process group
#   server PID   PID is the server
#   none 0       nothing runs
#   quit 0       the starter has cleared away everything
# OWNER, unless 0, is a process to wait for besides; FILE, unless empty, is removed with the directory.

dir=$1 owner=$2 file=$3
trap '' HUP INT TERM

kind=none pid=0
while read -r word number; do
	[ "$word" = quit ] && exit 0
	kind=$word pid=$number
done

nap() { sleep "$1" 2>/dev/null || sleep 1; }

if [ "$owner" -gt 0 ]; then
	while kill -0 "$owner" 2>/dev/null; do nap 0.5; done
fi

# Whether PID still is what the starter meant, and not a later process with the same number: every
# program of this server has its directory among its arguments. Not so a zombie.
ours() {
	if [ -r /proc/self/cmdline ]; then
		grep -qF -- "$dir/" "/proc/$pid/cmdline" 2>/dev/null
	else
		ps -ww -o args= -p "$pid" 2>/dev/null | grep -qF -- "$dir/"
	fi
}

# A program that is just being started has no arguments for a moment.
found() { ours || { nap 0.05 && ours; }; }

# ends CONDITION: waits while the condition holds, for some 8 s at most.
ends() {
	tries=150
	while "$@" 2>/dev/null; do
		[ $tries -gt 0 ] || return 1
		tries=$((tries - 1))
		nap 0.05
	done
}

# Nothing else frees the shared memory of a server that was killed. The seventh line of its lock file
# is the key and the ID.
free_memory() {
	segment=$(sed -n '7s/.* //p' "$dir/data/postmaster.pid" 2>/dev/null)
	[ -n "$segment" ] && ipcrm -m "$segment" 2>/dev/null
}

if [ "$kind" = setup ] && found; then
	# The server that initdb runs ends in an orderly way when nobody tells it what to do any more.
	kill -KILL "$pid" 2>/dev/null
	if ! ends kill -0 "-$pid"; then
		kill -KILL "-$pid" 2>/dev/null
		free_memory
	fi
fi
if [ "$kind" = server ] && found; then
	# After 5 s the server kills what is left of its sessions by itself.
	kill -QUIT "$pid" 2>/dev/null
	if ! ends ours; then
		kill -KILL "$pid" 2>/dev/null
		ends ours
		free_memory
	fi
fi

case $file in
*/..*) ;;
/*/jobtop-*) [ -f "$file" ] && rm -f -- "$file" ;;
esac

# Remove nothing but a directory that a sandbox made.
case $dir in
*/../* | *//* | */) exit 1 ;;
/*) ;;
*) exit 1 ;;
esac
case ${dir##*/} in
jobtop-?*) ;;
*) exit 1 ;;
esac
[ -L "$dir" ] && exit 1
if [ ! -f "$dir/.jobtop-sandbox" ]; then
	rmdir -- "$dir" 2>/dev/null # the starter got no further than to make it
	exit 0
fi
# Sessions on their way out may still make files.
tries=0
while ! rm -rf -- "$dir" 2>/dev/null && [ $tries -lt 100 ]; do
	tries=$((tries + 1))
	nap 0.05
done
