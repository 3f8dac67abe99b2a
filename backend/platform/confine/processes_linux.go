package confine

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// OwnPID is this process's id as /proc has it, which is not that of its own namespace.
func OwnPID() int {
	own, _ := os.Readlink("/proc/self")
	pid, _ := strconv.Atoi(own)
	return pid
}

// Usage is what a process uses.
type Usage struct {
	Resident  int64 // bytes
	Threads   int
	Processor time.Duration // what those that it has waited for used, too
}

// A tick is the unit of the kernel's processor times.
const tick = time.Second / 100

// Descendants are the processes that come from one, but those that have ended, by what they use.
func Descendants(of int) map[int]Usage {
	out, _ := Family(of)
	return out
}

// Family is Descendants, and what the one itself uses.
func Family(of int) (map[int]Usage, Usage) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, Usage{}
	}
	parents, used := map[int]int{}, map[int]Usage{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name, in brackets, may hold anything.
		_, rest, ok := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		f := strings.Fields(rest)
		if !ok || len(f) < 22 || f[0] == "Z" || f[0] == "X" {
			continue
		}
		number := func(at int) int64 { n, _ := strconv.ParseInt(f[at], 10, 64); return n }
		parents[pid] = int(number(1))
		used[pid] = Usage{
			Resident: number(21) * int64(os.Getpagesize()), Threads: int(number(17)),
			Processor: time.Duration(number(11)+number(12)+number(13)+number(14)) * tick,
		}
	}
	out := map[int]Usage{}
	for pid := range parents {
		seen := 0
		for at := pid; at != 0 && seen < 10_000; at, seen = parents[at], seen+1 {
			if at == of && pid != of {
				out[pid] = used[pid]
				break
			}
		}
	}
	return out, used[of]
}
