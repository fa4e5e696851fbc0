package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	tests := map[string]struct {
		reason      string
		err         error
		interrupted bool
		want        int
	}{
		"right":                {"All was shown.", nil, false, 0},
		"kept until Ctrl-C":    {"With KEEP, this is how it ends.", nil, true, 0},
		"interrupted":          {"As of a shell whose command ended by SIGINT.", context.Canceled, true, 130},
		"failed":               {"The final state was wrong.", errors.New("wrong"), false, 1},
		"failed to clean up":   {"Something may still run.", errors.New("did not stop"), true, 1},
		"canceled by itself":   {"Nobody interrupted it.", context.Canceled, false, 1},
		"interrupted and left": {"What is left over is told.", errors.Join(context.Canceled, errNotClosed), true, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if got := report(&out, tc.err, tc.interrupted); got != tc.want {
				t.Errorf("%s\nhave %d, want %d", tc.reason, got, tc.want)
			}
			if failed := strings.Contains(out.String(), "failed: "); failed != (tc.want == 1) {
				t.Errorf("said %q", out.String())
			}
		})
	}
}

func TestWantsColour(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	tests := map[string]struct {
		reason string
		out    *os.File
		env    map[string]string
		want   bool
	}{
		"device":   {"A terminal is a device.", device, nil, true},
		"file":     {"In a file it would be noise.", file, nil, false},
		"NO_COLOR": {"The reader does not want it.", device, map[string]string{"NO_COLOR": "1"}, false},
		"dumb":     {"The terminal cannot.", device, map[string]string{"TERM": "dumb"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := wantsColour(tc.out, func(key string) string { return tc.env[key] }); got != tc.want {
				t.Errorf("%s\nhave %v", tc.reason, got)
			}
		})
	}
}
