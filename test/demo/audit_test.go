package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// answered is a line of an audit log; times are in milliseconds.
func answered(client, name string, received, answered, code int) string {
	at := func(ms int) string {
		return time.Date(2026, 1, 1, 0, 0, 0, ms*int(time.Millisecond), time.UTC).Format(time.RFC3339Nano)
	}
	return fmt.Sprintf(`{"kind":"Event","stage":"ResponseComplete","verb":"patch","userAgent":"%s/v1 (linux/amd64)",`+
		`"objectRef":{"resource":"tidbclusters","name":%q},"responseStatus":{"metadata":{},"code":%d},`+
		`"requestReceivedTimestamp":%q,"stageTimestamp":%q}`, client, name, code, at(received), at(answered)) + "\n"
}

func TestRepairTime(t *testing.T) {
	tests := map[string]struct {
		reason   string
		log      []string
		want     time.Duration
		repaired bool
	}{
		"repaired": {
			"From the receipt of the damage to the answer to the repair.",
			[]string{answered("cluster", "basic", 100, 105, 200), answered("dyncontroller", "basic", 107, 112, 200)},
			12 * time.Millisecond, true,
		},
		"not yet": {
			"What we did before is no repair of it.",
			[]string{answered("dyncontroller", "basic", 0, 5, 200), answered("cluster", "basic", 100, 105, 200)},
			0, false,
		},
		"again": {
			"Only the last damage counts.",
			[]string{
				answered("cluster", "basic", 0, 1, 200), answered("dyncontroller", "basic", 2, 3, 200),
				answered("cluster", "basic", 100, 101, 200), answered("dyncontroller", "basic", 102, 104, 200),
			},
			4 * time.Millisecond, true,
		},
		"refused": {
			"A write that was refused repaired nothing.",
			[]string{
				answered("cluster", "basic", 0, 1, 200), answered("dyncontroller", "basic", 2, 3, 409),
				answered("dyncontroller", "basic", 4, 6, 200),
			},
			6 * time.Millisecond, true,
		},
		"more of ours": {
			"Later writes of ours are for something else.",
			[]string{
				answered("cluster", "basic", 0, 1, 200), answered("dyncontroller", "basic", 2, 3, 200),
				answered("dyncontroller", "basic", 4, 6, 200),
			},
			3 * time.Millisecond, true,
		},
		"another": {
			"Nor do other clusters count.",
			[]string{answered("cluster", "basic", 0, 1, 200), answered("dyncontroller", "orders", 2, 3, 200)},
			0, false,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			patches, err := parsePatches([]byte(strings.Join(tc.log, "")))
			if err != nil {
				t.Fatal(err)
			}
			took, repaired := repairTime(patches, "basic")
			if repaired != tc.repaired || repaired && took != tc.want {
				t.Errorf("%s\nhave %s, %v", tc.reason, took, repaired)
			}
		})
	}
}

func TestParsePatches(t *testing.T) {
	line := answered("cluster", "basic", 0, 1, 200)
	tests := map[string]struct {
		reason string
		data   string
		want   int
		fails  bool
	}{
		"empty":   {"Nothing has happened yet.", "", 0, false},
		"partial": {"A line that is being written is for the next time.", line + line[:20], 1, false},
		"broken":  {"Anything else is not to be passed over.", line + "oh no\n", 0, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			patches, err := parsePatches([]byte(tc.data))
			if (err != nil) != tc.fails || len(patches) != tc.want {
				t.Errorf("%s\nhave %v, %v", tc.reason, patches, err)
			}
		})
	}
}

func FuzzParsePatches(f *testing.F) {
	f.Add([]byte(answered("cluster", "basic", 0, 1, 200)))
	f.Add([]byte("\n"))
	f.Add([]byte("{}\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		patches, err := parsePatches(data)
		if err == nil && len(patches) > strings.Count(string(data), "\n") {
			t.Errorf("%d patches in %q", len(patches), data)
		}
	})
}

func TestAuditArguments(t *testing.T) {
	a := audit{t.TempDir()}
	arguments, err := a.arguments()
	if err != nil || len(arguments) != 2 {
		t.Fatal(arguments, err)
	}
	policy, err := os.ReadFile(strings.TrimPrefix(arguments[0], "--audit-policy-file="))
	if err != nil || !strings.Contains(string(policy), "tidbclusters") {
		t.Errorf("the policy is %q, %v", policy, err)
	}
	if _, err := (audit{filepath.Join(a.dir, "none")}).arguments(); err == nil {
		t.Error("a policy was written to a folder that is not there")
	}
	if _, err := a.waitRepair(t.Context(), "basic"); err == nil {
		t.Error("a repair was found without a log")
	}
}
