package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRecording(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(t *testing.T, folder string, files *recording)
		want   []string
	}{
		"nothing": {"what is as it was has not changed", func(*testing.T, string, *recording) {}, nil},
		"same": {"nor what was written as it was", func(t *testing.T, folder string, _ *recording) {
			replace(t, filepath.Join(folder, "a.yaml"), "a")
		}, nil},
		"other": {"another content", func(t *testing.T, folder string, _ *recording) {
			replace(t, filepath.Join(folder, "a.yaml"), "b")
		}, []string{"a.yaml"}},
		"missing": {"a file that was missed", func(t *testing.T, folder string, _ *recording) {
			replace(t, filepath.Join(folder, "none", "b.yaml"), "b")
		}, []string{".", "none/b.yaml"}},
		"gone": {"a file that is gone, and so the directory", func(t *testing.T, folder string, _ *recording) {
			if err := os.Remove(filepath.Join(folder, "a.yaml")); err != nil {
				t.Fatal(err)
			}
		}, []string{".", "a.yaml"}},
		"ours": {"what is written through it is known, with the directories that it takes", func(t *testing.T, folder string, files *recording) {
			if err := files.WriteFile(filepath.Join(folder, "none", "b.yaml"), []byte("b")); err != nil {
				t.Fatal(err)
			}
		}, nil},
		"crds": {"CRDs are followed into their folders", func(t *testing.T, folder string, _ *recording) {
			replace(t, filepath.Join(folder, "crds", "deep", "c.yaml"), "other")
		}, []string{"crds/deep/c.yaml"}},
		"unread": {"what nobody read makes no difference", func(t *testing.T, folder string, _ *recording) {
			replace(t, filepath.Join(folder, "crds", "README.md"), "other")
		}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for path, text := range map[string]string{"a.yaml": "a", "crds/deep/c.yaml": "c", "crds/README.md": "r"} {
				replace(t, filepath.Join(folder, path), text)
			}
			onDisk, err := newDisk(folder)
			if err != nil {
				t.Fatal(err)
			}
			files := newRecording(onDisk)
			for _, path := range []string{"a.yaml", "none/b.yaml"} {
				_, _ = files.ReadFile(filepath.Join(folder, path)) // One of them is not there.
			}
			if _, err := files.ReadDir(folder); err != nil {
				t.Fatal(err)
			}
			files.follow(filepath.Join(folder, "crds"))
			test.change(t, folder, files)
			var got []string
			for _, path := range files.changed() {
				below, err := filepath.Rel(folder, path)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, below)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: have %q, want %q", test.reason, got, test.want)
			}
			_, directories := files.watched()
			for _, want := range []string{".", "none", "crds", "crds/deep"} {
				if !slices.Contains(directories, filepath.Join(folder, want)) {
					t.Errorf("%s is not watched, but %q", want, directories)
				}
			}
		})
	}
}
