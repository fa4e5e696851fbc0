package corpus

import (
	"strings"
	"testing"
)

func TestFilesErrors(t *testing.T) {
	tidb := project(t, "tidb-operator")
	for _, c := range []struct {
		reason string
		change func(*Project)
		want   string
	}{
		{"another content", func(p *Project) { p.Sum = "h1:another" }, "fetching the CRDs of tidb-operator"},
		{"no such files", func(p *Project) { p.Globs = []string{"nowhere/*.yaml"} }, "has no files nowhere/*.yaml"},
		{"a glob that is none", func(p *Project) { p.Globs = []string{"["} }, "syntax error"},
	} {
		changed := tidb
		c.change(&changed)
		if files, err := Files(t.Context(), changed); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d files, %v, want %q", c.reason, len(files), err, c.want)
		}
	}
}

func TestFilesAreNamed(t *testing.T) {
	files, err := Files(t.Context(), project(t, "tidb-operator"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "tidb-operator/manifests/crd/v1/pingcap.com_tidbclusters.yaml"
	for _, f := range files {
		if f.Name == want && len(f.Data) > 1<<20 {
			return
		}
	}
	t.Errorf("there is no %s of more than a megabyte", want)
}

func TestProjectsArePinned(t *testing.T) {
	names := map[string]bool{}
	for _, p := range Projects() {
		if names[p.Name] || !strings.HasPrefix(p.Sum, "h1:") || !strings.HasPrefix(p.Version(), "v") || p.CRDs == 0 {
			t.Errorf("%+v needs a name of its own, a version, a sum and a number of CRDs", p)
		}
		names[p.Name] = true
	}
}

func project(t *testing.T, name string) Project {
	t.Helper()
	for _, p := range Projects() {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("there is no project %s", name)
	return Project{}
}
