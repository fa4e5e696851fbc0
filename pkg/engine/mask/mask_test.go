package mask_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/dyncontroller/dyncontroller/pkg/engine/mask"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const canary = "canary-in-a-mine"

var (
	secrets = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	login   = map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "login"},
		"data": map[string]any{"password": base64.StdEncoding.EncodeToString([]byte(canary))},
	}
	errTells = errors.New("it is " + canary)
)

// writes is an operation that copies the value to an object that is called so.
func writes() plan.Operation {
	return plan.Operation{
		Target: plan.Object{Namespace: "ns", Name: canary}, Body: map[string]any{"spec": canary}, Predicted: map[string]any{"spec": canary},
		Changes: []plan.Change{{Path: plan.Path{"spec", canary}, After: canary}},
	}
}

// TestNothing holds that there is no Masker where no Secret is concerned, and that nothing is hidden then.
func TestNothing(t *testing.T) {
	m := mask.New(mask.Evaluation{Watched: login, Operations: []plan.Operation{writes()}})
	decided := plan.Plan{Decisions: []plan.Decision{{Reason: canary}}}
	m.Plan(&decided)
	ctx := t.Context()
	if m != nil || !errors.Is(m.Error(errTells), errTells) || m.Error(nil) != nil || m.Context(ctx) != ctx || decided.Decisions[0].Reason != canary {
		t.Error("something is hidden")
	}
	if m.Object(plan.Object{Name: canary}).Name != canary || m.Event(plan.Event{Message: canary}).Message != canary {
		t.Error("a name is hidden")
	}
	if operation := m.Operation(writes()); operation.Predicted == nil {
		t.Error("an operation is hidden")
	}
}

// TestLearns holds from what values are learned.
func TestLearns(t *testing.T) {
	long := strings.Repeat("0123456789", 6)
	to := func(change plan.Change) []plan.Operation {
		return []plan.Operation{{Target: plan.Object{GVR: secrets}, Changes: []plan.Change{change}}}
	}
	data := plan.Path{"stringData", "password"}
	tests := map[string]struct {
		of    mask.Evaluation
		text  string
		shown string
	}{
		"Watched": {mask.Evaluation{GVR: secrets, Watched: login}, canary, "(masked)"},
		"Read":    {mask.Evaluation{Secrets: []map[string]any{login}}, canary, "(masked)"},
		"Sent":    {mask.Evaluation{Operations: []plan.Operation{{Target: plan.Object{GVR: secrets}, Body: login}}}, canary, "(masked)"},
		"Audited": {mask.Evaluation{Audited: []plan.Operation{{Target: plan.Object{GVR: secrets}, Body: login}}}, canary, "(masked)"},
		"Before":  {mask.Evaluation{Operations: to(plan.Change{Path: data, Before: canary})}, canary, "(masked)"},
		"After":   {mask.Evaluation{Operations: to(plan.Change{Path: data, After: canary})}, canary, "(masked)"},
		"Given":   {mask.Evaluation{Watched: map[string]any{"metadata": map[string]any{"name": canary}}, Secrets: []map[string]any{login}}, canary, canary},
		"Cut": {
			mask.Evaluation{
				Secrets: []map[string]any{{"stringData": map[string]any{"password": long}}},
				Operations: []plan.Operation{{
					Type: plan.Create, Body: map[string]any{"metadata": map[string]any{"generateName": "of-" + long + "-"}},
				}},
			},
			"of-" + long[:55] + "abcde", "(masked)abcde",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := mask.New(tc.of).Object(plan.Object{Name: tc.text}).Name; got != tc.shown {
				t.Errorf("%q is shown as %q, want %q", tc.text, got, tc.shown)
			}
		})
	}
}

// TestMasks holds what is masked.
func TestMasks(t *testing.T) {
	m := mask.New(mask.Evaluation{Secrets: []map[string]any{login}})
	if err := m.Error(errTells); !errors.Is(err, errTells) || err.Error() != "it is (masked)" {
		t.Errorf("the error is %q", err)
	}
	decided := plan.Plan{
		Decisions: []plan.Decision{{Reason: "as " + canary, Health: &plan.Health{Reason: canary + " is false"}}, {Outcome: plan.Failed, Reason: "as " + canary, Err: errTells}},
		Events:    []plan.Event{{Message: canary, Regarding: plan.Object{Name: canary}}},
	}
	m.Plan(&decided)
	if d := decided.Decisions; d[0].Reason != "as (masked)" || d[1].Reason != "as (masked)" || d[1].Err.Error() != "it is (masked)" {
		t.Errorf("the decisions are %v", d)
	}
	if got := decided.Decisions[0].Health.Reason; got != "(masked) is false" {
		t.Errorf("why it is not healthy is %q", got)
	}
	if e := decided.Events[0]; e.Message != "(masked)" || e.Regarding.Name != canary {
		t.Errorf("the Event is %v", e)
	}
	sent := writes()
	told := m.Operation(sent)
	want := plan.Operation{
		Target: plan.Object{Namespace: "ns", Name: "(masked)"}, Body: map[string]any{"spec": "(masked)"},
		Changes: []plan.Change{{Path: plan.Path{"spec", "(masked)"}, After: "(masked)"}},
	}
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".existed" }, cmp.Ignore())
	if diff := cmp.Diff(want, told, ignore); diff != "" {
		t.Errorf("what is told (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(writes(), sent, ignore); diff != "" {
		t.Errorf("what is sent has changed (-want +got):\n%s", diff)
	}
	sent.Target.GVR, sent.Changes[0].After = secrets, "unknown"
	sent.Changes = append(sent.Changes, plan.Change{Path: plan.Path{"metadata", "labels", "of"}, After: "web"}, plan.Change{Path: plan.Path{"type"}, After: canary})
	if changes := m.Operation(sent).Changes; changes[1].After != "web" || changes[2].After != "(masked)" {
		t.Errorf("a label and the type of a Secret are told as %v", changes[1:])
	}
	if change := m.Operation(sent).Changes[0]; change.After != "(masked)" || change.Before != nil {
		t.Errorf("a field of a Secret is told: %v", change)
	}
}

// TestBlind holds that what rules fail with is hidden while it is not known what to hide.
func TestBlind(t *testing.T) {
	decided := plan.Plan{Decisions: []plan.Decision{{Outcome: plan.Failed, Reason: "anything"}, {Outcome: plan.Unmatched, Reason: "anything"}}}
	m := mask.New(mask.Evaluation{Blind: true})
	m.Plan(&decided)
	if got := []string{decided.Decisions[0].Reason, decided.Decisions[1].Reason, m.Error(errTells).Error()}; !cmp.Equal(got, []string{"(masked)", "anything", "(masked)"}) {
		t.Errorf("told is %q", got)
	}
}

// TestLog holds that the log of a request is masked, by several requests at the same time.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	m := mask.New(mask.Evaluation{Secrets: []map[string]any{login}})
	ctx := m.Context(klog.NewContext(t.Context(), logr.FromSlogHandler(slog.NewTextHandler(&out, nil))))
	var requests sync.WaitGroup
	for range 4 {
		requests.Go(func() {
			klog.FromContext(ctx).WithName("client").WithValues("url", "/"+canary, "verb", "GET").Info("asks for "+canary, "warning", errTells, "code", 299)
		})
	}
	requests.Wait()
	slog.New(logr.ToSlogHandler(klog.FromContext(ctx))).WithGroup("group").Info("told", "value", canary)
	if told := out.String(); strings.Contains(told, canary) || strings.Count(told, "url=/(masked) verb=GET logger=client warning=\"it is (masked)\" code=299") != 4 ||
		!strings.Contains(told, "group.value=(masked)") {
		t.Errorf("the log is:\n%s", told)
	}
}
