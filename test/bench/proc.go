package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is USER_HZ, the unit of the times in /proc/PID/stat. It is 100 on every platform of Linux that Go supports.
const ticksPerSecond = 100

// memory is in bytes.
type memory struct {
	anonymous, file int
	peak            int // of both together, since the process began.
}

// readCPU is the CPU time of all threads of a process since it began.
func readCPU(pid int) (time.Duration, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	return parseCPU(string(data))
}

// parseCPU adds the fields utime and stime, the 14th and 15th. The second one is the name in parentheses, which may hold spaces and
// parentheses itself.
func parseCPU(stat string) (time.Duration, error) {
	_, rest, _ := strings.Cut(stat[max(strings.LastIndex(stat, ")"), 0):], " ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("%q is no /proc/PID/stat", stat)
	}
	ticks := 0
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%q is no number of ticks", field)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

func readMemory(pid int) (memory, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return memory{}, err
	}
	return parseMemory(string(data))
}

func parseMemory(status string) (memory, error) {
	var m memory
	missing := map[string]*int{"RssAnon": &m.anonymous, "RssFile": &m.file, "VmHWM": &m.peak}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		to := missing[name]
		if to == nil {
			continue
		}
		kilobytes, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		if err != nil {
			return memory{}, fmt.Errorf("%q is no size", strings.TrimSpace(line))
		}
		*to = kilobytes << 10
		delete(missing, name)
	}
	if len(missing) > 0 {
		return memory{}, fmt.Errorf("/proc/PID/status lacks %d of RssAnon, RssFile and VmHWM", len(missing))
	}
	return m, nil
}
