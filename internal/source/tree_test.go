package source

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// untrusted has a project with a directory of tests, and beside it what no test may reach.
func untrusted(t *testing.T) (outer string) {
	t.Helper()
	outer = t.TempDir()
	for _, folder := range []string{"project/.git", "project/rules/tests/golden", "project/.github/rules", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(outer, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, outer, map[string]string{
		"secret": "secret", "elsewhere/secret": "secret",
		"project/.git/config": "secret", "project/.env": "secret", "project/shared.yaml": "ok", "project/.github/rules/x.yaml": "ok",
		"project/rules/rules.yaml": "ok", "project/rules/tests/x.yaml": "ok", "project/rules/tests/golden/old.yaml": "ok",
	})
	for link, to := range map[string]string{
		"rules/tests/up.yaml":         "../rules.yaml",
		"rules/tests/chain.yaml":      "up.yaml",
		"rules/tests/absolute.yaml":   filepath.Join(outer, "project/shared.yaml"),
		"rules/tests/out.yaml":        "../../../secret",
		"rules/tests/outfolder":       "../../../elsewhere",
		"rules/tests/git.yaml":        "../../.git/config",
		"rules/tests/dangling.yaml":   "../../../nothing",
		"rules/tests/linked":          "golden",
		"rules/tests/golden/old2":     "old.yaml",
		"rules/tests/..2026_01_01":    "golden",
		"rules/tests/..data":          "..2026_01_01",
		"rules/tests/mounted.yaml":    "..data/old.yaml",
		"rules/tests/golden/new.yaml": "../../../../elsewhere/new.yaml",
	} {
		if err := os.Symlink(to, filepath.Join(outer, "project", link)); err != nil {
			t.Fatal(err)
		}
	}
	return outer
}

func TestTreeReads(t *testing.T) {
	outer := untrusted(t)
	tree, err := NewTree(filepath.Join(outer, "project/rules/tests"))
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(outer, "project/socket.yaml")) // A pipe is the same, on fewer systems.
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for path, why := range map[string]string{
		"../../socket.yaml":       "it is neither a file nor a directory",
		"x.yaml":                  "",
		"../rules.yaml":           "",
		"../../shared.yaml":       "",
		"up.yaml":                 "",
		"chain.yaml":              "",
		"absolute.yaml":           "",
		"mounted.yaml":            "",
		"../../../secret":         "it is outside of",
		"/etc/group":              "it is outside of",
		"out.yaml":                "it is a link, and what it leads to: it is outside of",
		"outfolder/secret":        "it is a link, and what it leads to: it is outside of",
		"git.yaml":                "it is a link, and what it leads to: .git is hidden, so it is outside",
		"../../.git/config":       ".git is hidden",
		"../../.env":              ".env is hidden",
		"../../.github/rules/../": ".github is hidden",
		"dangling.yaml":           "no such file",
		"nothing.yaml":            "no such file",
	} {
		full := path
		if !filepath.IsAbs(path) {
			full = filepath.Join(outer, "project/rules/tests") + "/" + strings.TrimSuffix(path, "/../") // Unclean, as a test has it.
		}
		file, err := tree.Open(full)
		if why != "" {
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: want an error with %q, have %v", path, why, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if text, err := io.ReadAll(file); err != nil || string(text) != "ok" {
			t.Errorf("%s: have %q, %v", path, text, err)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTreeWrites(t *testing.T) {
	outer := untrusted(t)
	tree, err := NewTree(filepath.Join(outer, "project/rules/tests"))
	if err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{
		"golden/a.yaml":      "",
		"new/folder/a.yaml":  "",
		"golden/old.yaml":    "",
		"../a.yaml":          "it is outside of",
		"/tmp/a.yaml":        "it is outside of",
		".hidden/a.yaml":     ".hidden is hidden",
		"golden/.bashrc":     ".bashrc is hidden",
		"golden/old2":        "old2 is a link",
		"golden/new.yaml":    "new.yaml is a link",
		"linked/a.yaml":      "linked is a link",
		"outfolder/a.yaml":   "outfolder is a link",
		"outfolder/b/a.yaml": "outfolder is a link",
	} {
		full := path
		if !filepath.IsAbs(path) {
			full = filepath.Join(outer, "project/rules/tests", path)
		}
		switch err := tree.WriteFile(full, []byte("written")); {
		case why != "" && (err == nil || !strings.Contains(err.Error(), why)):
			t.Errorf("%s: want an error with %q, have %v", path, why, err)
		case why == "" && err != nil:
			t.Errorf("%s: %v", path, err)
		case why == "":
			if text, err := os.ReadFile(full); err != nil || string(text) != "written" {
				t.Errorf("%s: have %q, %v", path, text, err)
			}
		}
	}
	hard := filepath.Join(outer, "project/rules/tests/golden/hard.yaml")
	if err := os.Link(filepath.Join(outer, "secret"), hard); err != nil {
		t.Fatal(err)
	}
	if err := tree.WriteFile(hard, []byte("written")); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]string{hard: "written", filepath.Join(outer, "secret"): "secret"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("a hard link: want %q in %s, have %q, %v", want, path, text, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(outer, "elsewhere")); err != nil || len(left) != 1 {
		t.Errorf("written elsewhere: %v, %v", left, err)
	}
}

// TestProject is of what is around a directory.
func TestProject(t *testing.T) {
	outer := untrusted(t)
	rulesDirectory := filepath.Join(outer, "project/rules")
	plain := filepath.Join(outer, "elsewhere/a/b")
	if err := os.MkdirAll(plain, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, each := range []struct{ why, directory, working, home, want string }{
		{"the git work tree", rulesDirectory, outer, "", filepath.Join(outer, "project")},
		{"the working directory", plain, filepath.Join(outer, "elsewhere"), "", filepath.Join(outer, "elsewhere")},
		{"a working directory that does not contain it", plain, rulesDirectory, "", plain},
		{"the root is not a project", plain, "/", "", plain},
		{"home is not a project", plain, outer, outer, plain},
		{"home is not a project, even if it is a work tree", rulesDirectory, "/", filepath.Join(outer, "project"), rulesDirectory},
	} {
		t.Run(each.why, func(t *testing.T) {
			t.Setenv("HOME", each.home)
			t.Chdir(each.working)
			if tree, err := NewTree(each.directory); err != nil || tree.project != each.want {
				t.Errorf("want %s, have %s, %v", each.want, tree.project, err)
			}
		})
	}
}

// TestLinksInDirectories is of links that nobody has named: of each, an error names the link and has nothing of the file.
func TestLinksInDirectories(t *testing.T) {
	outer := untrusted(t)
	directory := filepath.Join(outer, "project/scanned")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, directory, map[string]string{"rules.yaml": ruleSet("a", "b")})
	if err := os.Symlink("../../secret", filepath.Join(directory, "out.yaml")); err != nil {
		t.Fatal(err)
	}
	_, err := New([]string{directory}, nil, rules.Options{}).Load()
	_, errCRDs := ReadCRDs([]string{directory}, nil)
	for _, err := range []error{err, errCRDs} {
		if !errors.Is(err, ErrOutside) || !strings.Contains(err.Error(), "out.yaml") || strings.Contains(err.Error(), "secret:") {
			t.Errorf("have %v", err)
		}
	}
	if _, err := New([]string{filepath.Join(directory, "out.yaml"), directory}, nil, rules.Options{}).Load(); errors.Is(err, ErrOutside) {
		return // The directory still has it.
	}
	t.Error("the link is followed in the directory, since it is named too")
}
