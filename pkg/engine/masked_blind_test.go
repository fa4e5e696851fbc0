package engine_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

const failsWithACopy = `
  - name: knows
    watch: widgets
    with: {login: {resource: secrets, name: login}}
    actions: [{event: {reason: Knows, message: "${login?.data?.password}"}}]
  - name: fails
    watch: widgets
    when: duration(object.spec.told) == duration("1s")
    actions: [{event: {reason: Never, message: never}}]
  - name: greets
    watch: widgets
    actions: [{event: {reason: Hello, message: "hello ${object.metadata.name}"}}]
`

// TestNothingTellsASecretUnread holds that what a rule fails with is not told while a
// Secret that another rule asked for cannot be read: it may quote a copy of that, which
// nobody could tell from other text. What does not fail is told as it is.
func TestNothingTellsASecretUnread(t *testing.T) {
	c, w := newCluster(), &witness{}
	c.put(t, login)
	c.put(t, `{metadata: {namespace: ns, name: a}, spec: {size: 5, told: `+canary+`}}`)
	set := withSecrets(t, failsWithACopy)
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(engine.Options{
			Caches:   func(handler informer.Handler) engine.Caches { c.handler = handler; return cachesOf{c} },
			Live:     c,
			Writer:   c,
			Recorder: c,
			Observer: w,
			Log:      slog.New(slog.NewTextHandler(w, nil)),
		})
		secrets := informer.Key{GVR: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}}
		e.Deny(map[informer.Key]error{secrets: errors.New("not yet")})
		report, err := e.Settle(t.Context(), set)
		if err != nil {
			t.Fatal(err)
		}
		for _, failure := range report.Failures {
			w.tell("report", "%v %v", failure.Rules, failure.Err)
		}
	})
	for channel, told := range w.told {
		if leaks(told.String()) {
			t.Errorf("%s tells it:\n%s", channel, told)
		}
	}
	for channel, part := range map[string]string{"report": "fails", "recorded": "hello a"} {
		if told := w.told[channel]; told == nil || !strings.Contains(told.String(), part) {
			t.Errorf("want %q in %s, got %v", part, channel, told)
		}
	}
}
