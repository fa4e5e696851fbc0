package source

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema/crd"
)

// shops is a definition of shops whose spec has one field.
func shops(t *testing.T, field string) *schema.Catalog {
	t.Helper()
	definitions, err := crd.Read("crd.yaml", []byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {
  group: example.com, scope: Namespaced, names: {plural: shops, kind: Shop}, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {
    type: object, properties: {spec: {type: object, properties: {`+field+`: {type: integer}}}}}}}]}}`))
	must(t, err)
	return schema.NewCatalog(crd.NewSource(definitions))
}

// open reads a field of the spec of shops.
func open(name, field string) string {
	return strings.NewReplacer("{version: v1, resource: pods}", "{group: example.com, version: v1, resource: shops}",
		"    actions:", "    when: object.spec."+field+" == 1\n    actions:").Replace(ruleSet("a", name))
}

// known is what is known of the schemas, and what was asked about them.
type known struct {
	catalog *schema.Catalog
	news    bool
	asked   []apischema.GroupVersionResource
}

func (k *known) Ask(_ context.Context, wanted []apischema.GroupVersionResource) (*schema.Catalog, bool) {
	k.asked = wanted
	defer func() { k.news = false }()
	return k.catalog, k.news
}

func (k *known) Changed() <-chan struct{} { return nil }

// TestLookAsks goes through what can become of files and of schemas, step by step.
func TestLookAsks(t *testing.T) {
	t.Parallel()
	type step struct {
		reason string
		file   string // what it holds from now on, empty for what it held
		schema string // the field that shops have from now on, empty for what they had
		told   string // "", "set", "error" or both
	}
	cases := map[string][]step{
		"nothing": {{"Nobody is told of nothing.", "", "", ""}},
		"fits": {
			{"Rules that still fit are compiled again, since what is the same may have changed.", "", "size", "set"},
			{"Once.", "", "", ""},
		},
		"no longer fits": {
			{"The same rules stay in effect, unchecked, and it is told why.", "", "area", "set error"},
			{"Once.", "", "", ""},
			{"They may fit again.", "", "size", "set"},
		},
		"wrong files": {
			{"A file that does not fit is not in effect.", open("y", "area"), "", "error"},
			{"Nor is it because the schemas change to what it does not fit either. The rules in effect go by the new ones.", "", "width", "set error"},
			{"It is once they fit it.", "", "area", "set"},
			{"And stays then.", "", "width", "set error"},
		},
		"both": {
			{"A file that comes with its schema is checked by that.", open("y", "area"), "area", "set"},
			{"A file that is wrong in itself takes nothing out of effect. The rules in effect go by the new schemas.", "kind: RuleSte\n", "width", "set error"},
			{"Nor does it afterwards.", "", "size", "set error"},
		},
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			write(t, directory, map[string]string{"r.yaml": open("x", "size")})
			schemas := &known{catalog: shops(t, "size")}
			files := New([]string{filepath.Join(directory, "r.yaml")}, nil, rules.Options{})
			_, err := files.LoadAsking(t.Context(), schemas)
			must(t, err)
			for _, step := range steps {
				if step.file != "" {
					write(t, directory, map[string]string{"r.yaml": step.file})
				}
				if step.schema != "" {
					schemas.catalog, schemas.news = shops(t, step.schema), true
				}
				var told []string
				files.reload(t.Context(), files.parse(files.read()), func(set *rules.Set, err error) {
					if set != nil {
						told = append(told, "set")
					}
					if err != nil {
						told = append(told, "error")
					}
				})
				if got := strings.Join(told, " "); got != step.told {
					t.Errorf("%s\nwant %q, told %q", step.reason, step.told, got)
				}
			}
		})
	}
}

// TestLoadAsking holds that the schemas are asked for what the rules name, that they
// count, and not the options, and that no schemas are no mistake.
func TestLoadAsking(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write(t, directory, map[string]string{"r.yaml": open("x", "size"), "s.yaml": ruleSet("b", "x")})
	for name, tc := range map[string]struct {
		catalog *schema.Catalog
		fits    bool
	}{"fits": {shops(t, "size"), true}, "does not": {shops(t, "area"), false}, "not known": {nil, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schemas := &known{catalog: tc.catalog}
			set, err := New([]string{directory}, nil, rules.Options{Schemas: shops(t, "other")}).LoadAsking(t.Context(), schemas)
			if (err == nil) != tc.fits || (set != nil) != tc.fits {
				t.Errorf("got %v, %v", set, err)
			}
			want := []apischema.GroupVersionResource{{Group: "example.com", Version: "v1", Resource: "shops"}, {Version: "v1", Resource: "pods"}}
			if diff := cmp.Diff(want, schemas.asked); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWatchAsks holds that the schemas are asked at every poll.
func TestWatchAsks(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write(t, directory, map[string]string{"r.yaml": open("x", "size")})
	schemas := &known{catalog: shops(t, "size"), news: true}
	files := New([]string{directory}, nil, rules.Options{})
	_, err := files.LoadAsking(t.Context(), schemas)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	fake := clocktesting.NewFakeClock(time.Now())
	asked := make(chan struct{})
	files.schemas = asking(func() bool {
		asked <- struct{}{}
		return true
	})
	done := make(chan int)
	go func() {
		told := 0
		files.Watch(ctx, fake, slog.New(slog.DiscardHandler), func(*rules.Set, error) { told++ })
		done <- told
	}()
	<-asked // The first look.
	if !fake.HasWaiters() {
		t.Error("nothing waits for the clock")
	}
	fake.Step(quiet)
	<-asked // The directory is watched from now on.
	fake.Step(poll)
	<-asked
	cancel()
	if told := <-done; told != 3 {
		t.Errorf("told %d times", told)
	}
}

// asking is asked, and says whether it has news; it knows nothing.
type asking func() bool

func (a asking) Changed() <-chan struct{} { return nil }

func (a asking) Ask(context.Context, []apischema.GroupVersionResource) (*schema.Catalog, bool) {
	return nil, a()
}

// TestKindsOfUnfitRules holds that rules in effect go by the schemas that the cluster has now, whether they fit these or not: rules that
// do not fit, other rules, and the last good rules while the files are wrong. Without the kind of a resource, no rule can apply to it.
func TestKindsOfUnfitRules(t *testing.T) {
	t.Parallel()
	shop := apischema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "shops"}
	for name, tc := range map[string]struct {
		file, before, after string // the file at the end, and the fields of the schemas; empty for no file and no schema
		unfit               bool
		reason              string
	}{
		"unfit":              {before: "size", after: "area", unfit: true, reason: "The rules do not fit, and their kinds are known."},
		"wrong":              {file: "kind: RuleSte\n", before: "size", after: "size", reason: "The files are wrong, and the schemas are new."},
		"wrong, then comes":  {file: "kind: RuleSte\n", after: "size", reason: "The files are wrong, and the CRD is installed only now."},
		"wrong, then no fit": {file: "kind: RuleSte\n", before: "size", after: "area", reason: "The files are wrong, and the rules in effect fit no longer."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			write(t, directory, map[string]string{"r.yaml": open("x", "size"), "s.yaml": ruleSet("b", "x")})
			schemas := &known{}
			if tc.before != "" {
				schemas.catalog = shops(t, tc.before)
			}
			files := New([]string{directory}, nil, rules.Options{})
			_, err := files.LoadAsking(t.Context(), schemas)
			must(t, err)
			if tc.file != "" {
				write(t, directory, map[string]string{"r.yaml": tc.file})
				files.reload(t.Context(), files.parse(files.read()), func(*rules.Set, error) {})
			}
			schemas.catalog, schemas.news = shops(t, tc.after), true
			told := 0
			files.reload(t.Context(), files.parse(files.read()), func(set *rules.Set, err error) {
				told++
				if set == nil || set.Kinds()[shop].Name != "Shop" || len(set.Rules()) != 2 {
					t.Errorf("%s\ngot %v", tc.reason, set)
				}
				wrong, is := errors.AsType[*Error](err)
				if !is || wrong.Unfit != tc.unfit {
					t.Errorf("%s\ngot the error %v", tc.reason, err)
				}
			})
			if told != 1 {
				t.Errorf("told %d times", told)
			}
		})
	}
}
