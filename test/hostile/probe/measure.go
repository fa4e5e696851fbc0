package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/dyncontroller/dyncontroller/test/hostile"
)

// reading is what the process has used so far.
type reading struct {
	cpu       time.Duration
	resident  int // KiB
	allocated uint64
}

// contain ends the process where a case is far beyond its bounds, before it takes the machine along.
func contain() error {
	const seconds, bytes = 5, 4 << 30
	for resource, most := range map[int]uint64{syscall.RLIMIT_CPU: seconds, syscall.RLIMIT_AS: bytes} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limiting resource %d: %w", resource, err)
		}
	}
	return nil
}

// settle makes the process an idle one, and forgets the most memory it ever had. It gives back what is free, so that
// every page the case needs is seen.
func settle() (reading, error) {
	debug.FreeOSMemory()
	const resetPeak = "5"
	if err := os.WriteFile("/proc/self/clear_refs", []byte(resetPeak), 0); err != nil {
		return reading{}, fmt.Errorf("resetting the peak: %w", err)
	}
	return read("VmRSS")
}

// since returns what was used after r.
func (r reading) since() (hostile.Figures, error) {
	now, err := read("VmHWM")
	if err != nil {
		return hostile.Figures{}, err
	}
	return hostile.Figures{
		CPU:       now.cpu - r.cpu,
		Peak:      max(now.resident-r.resident, 0),
		Allocated: int((now.allocated - r.allocated) >> 10),
	}, nil
}

func read(field string) (reading, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return reading{}, fmt.Errorf("reading the CPU time: %w", err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return reading{}, err
	}
	match := regexp.MustCompile(`(?m)^` + field + `:\s+(\d+) kB$`).FindSubmatch(status)
	if match == nil {
		return reading{}, fmt.Errorf("no %s in /proc/self/status", field)
	}
	resident, err := strconv.Atoi(string(match[1]))
	if err != nil {
		return reading{}, fmt.Errorf("reading %s: %w", field, err)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return reading{
		cpu:       time.Duration(usage.Utime.Nano() + usage.Stime.Nano()),
		resident:  resident,
		allocated: memory.TotalAlloc,
	}, nil
}
