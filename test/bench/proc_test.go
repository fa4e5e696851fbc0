package main

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestParseCPU(t *testing.T) {
	const numbers = " S 1 2 3 0 -1 4194304 100 0 0 0 %s 20 0 1 0 2259070 3133440 394"
	stat := func(name, times string) string {
		return "27167 (" + name + ")" + strings.Replace(numbers, "%s", times, 1)
	}
	tests := map[string]struct {
		reason, stat string
		want         time.Duration
		fails        bool
	}{
		"both":     {"Time in the kernel counts, too; that of children does not.", stat("cat", "150 25 7 8"), 1750 * time.Millisecond, false},
		"name":     {"A name may look like the end of itself.", stat("a) R 1 (b", "1 2 0 0"), 30 * time.Millisecond, false},
		"empty":    {"A process that has ended has nothing.", "", 0, true},
		"short":    {"Half a line is none.", "27167 (cat) S 1 2 3", 0, true},
		"no digit": {"A text is no time.", stat("cat", "x 25 0 0"), 0, true},
		"negative": {"Time does not run backwards.", stat("cat", "-1 25 0 0"), 0, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseCPU(test.stat)
			if got != test.want || (err != nil) != test.fails {
				t.Errorf("%s: got %v and %v, want %v", test.reason, got, err, test.want)
			}
		})
	}
}

func TestParseMemory(t *testing.T) {
	const good = "Name:\tcat\nVmPeak:\t  5000 kB\nVmHWM:\t    2188 kB\nVmRSS:\t    2180 kB\nRssAnon:\t     144 kB\nRssFile:\t    2044 kB\nRssShmem:\t       0 kB\n"
	tests := map[string]struct {
		reason, status string
		want           memory
		fails          bool
	}{
		"good":    {"Sizes are in kB, which are KiB.", good, memory{144 << 10, 2044 << 10, 2188 << 10}, false},
		"missing": {"A process that has ended has a status without sizes.", "Name:\tcat\nState:\tZ (zombie)\n", memory{}, true},
		"text":    {"What is no size is an error.", strings.Replace(good, "144 kB", "many", 1), memory{}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseMemory(test.status)
			if got != test.want || (err != nil) != test.fails {
				t.Errorf("%s: got %v and %v, want %v", test.reason, got, err, test.want)
			}
		})
	}
}

// TestProcOfThisProcess holds that the kernel writes what is read.
func TestProcOfThisProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	m, err := readMemory(os.Getpid())
	if err != nil || m.anonymous <= 0 || m.file <= 0 || m.peak < m.anonymous {
		t.Errorf("got %+v and %v", m, err)
	}
	if _, err := readCPU(os.Getpid()); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("27167 (cat) S 1 2 3 0 -1 4194304 100 0 0 0 150 25 7 8 20 0 1 0")
	f.Add("VmHWM:\t    2188 kB\nRssAnon:\t     144 kB\nRssFile:\t    2044 kB\n")
	f.Add("gc 5 @0.512s 3%: 0.01+1.2+0.003 ms clock, 0.03+0.1/0.8/0.3+0.006 ms cpu, 9->10->7 MB, 11 MB goal, 0 MB stacks, 0 MB globals, 2 P\n")
	f.Fuzz(func(t *testing.T, text string) {
		if cpu, err := parseCPU(text); err == nil && cpu < 0 {
			t.Errorf("a CPU time of %v", cpu)
		}
		_, _ = parseMemory(text)
		if h, err := parseHeap(strings.NewReader(text)); err == nil && h.last > h.peak {
			t.Errorf("the last heap %d is greater than the greatest, %d", h.last, h.peak)
		}
	})
}
