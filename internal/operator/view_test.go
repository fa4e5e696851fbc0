package operator

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// TestViewsOfSets holds what is told of sets: those of files and those of the cluster, and of one alone the objects with which it has trouble.
func TestViewsOfSets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t, nil)
		k.account("shop", "ann")
		k.configMap("shop", "a", map[string]any{})
		k.set(func(w *world) { w.fails["PATCH configmaps"] = http.StatusUnprocessableEntity })
		k.files(paints("file", "", "red"), strings.Replace(paints("quiet", "", "red"), "spec:", "spec:\n  suspend: true", 1))
		defer k.start()()
		k.setObjects(asObject(t, paints("color", "ann", "blue")))
		k.pass(time.Minute)
		type told struct {
			Name     string
			Files    bool
			Standing string
			Matched  int64
			Errors   int64
			Objects  int
		}
		tell := func(views []setstatus.View) (out []told) {
			for _, v := range views {
				out = append(out, told{v.Name, v.File, v.Status.Rules[0].Standing, v.Status.Summary.Matched, v.Status.Summary.Errors, v.Troubled})
			}
			return out
		}
		if diff := cmp.Diff([]told{{"color", false, "", 1, 1, 0}, {"file", true, "", 1, 1, 0}, {"quiet", true, setstatus.Suspended, 0, 0, 0}}, tell(k.Views(nil))); diff != "" {
			t.Errorf("of all sets (-want +got):\n%s", diff)
		}
		before := k.Views(nil)
		k.pass(time.Minute)
		if diff := cmp.Diff(before[1:], k.Views(nil)[1:]); diff != "" {
			t.Errorf("nothing has changed (-before +after):\n%s", diff)
		}
		got := k.Views(&source.Key{Kind: "RuleSet", Namespace: "shop", Name: "file"})
		if diff := cmp.Diff([]told{{"file", true, "", 1, 1, 1}}, tell(got)); diff != "" {
			t.Fatalf("of one set (-want +got):\n%s", diff)
		}
		records := got[0].Objects[0].Records
		if len(records) != 1 || records[0].Rule.Set != "file" || records[0].Trouble == (trace.Trouble{}) {
			t.Errorf("of the rules of the other sets nothing is told: %+v", records)
		}
		if got := k.Views(&source.Key{Kind: "RuleSet", Namespace: "shop", Name: "none"}); len(got) > 0 {
			t.Errorf("there is no such set: %+v", got)
		}
	})
}
