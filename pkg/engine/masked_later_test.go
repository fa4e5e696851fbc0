package engine_test

import (
	"encoding/base64"
	"log/slog"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestNothingTellsASecretLater holds that a value is not told where what rules write is undone,
// or fails, again and again, and is kept waiting for that.
func TestNothingTellsASecretLater(t *testing.T) {
	refused := &apierrors.StatusError{ErrStatus: metav1.Status{Reason: canary, Message: "it must not be " + canary}}
	cases := map[string]struct {
		reason, rules string
		answer        func(plan.Operation) *write.Result
		says          map[string]string
	}{
		"contested": {
			"The object that is fought over is called so.", fights, nil,
			map[string]string{"events": "Contested", "log": "undone again and again", "recorded": "undoes itself", "writes": "(masked)"},
		},
		"in quarantine": {
			"A webhook may give any reason.", copies,
			func(plan.Operation) *write.Result { return &write.Result{Class: write.Terminal, Err: refused} },
			map[string]string{"events": "keeps failing ((masked))", "log": "is in quarantine", "recorded": "Quarantined:true", "writes": "terminal"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, w := newCluster(), &witness{}
			c.put(t, login)
			c.put(t, small)
			c.put(t, `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: `+canary+`}, spec: {size: 1}}`)
			c.answer = tc.answer
			c.tune = func(o *engine.Options) { o.Observer, o.Log = w, slog.New(slog.NewTextHandler(w, nil)) }
			runWith(t, c, engine.Housekeeping{}, withSecrets(t, tc.rules), func(t *testing.T, e *engine.Engine) {
				pass(70 * time.Second)
				w.tell("recorded", "%+v", recorded(t, e, c))
			})
			w.tell("events", "%s", strings.Join(c.events, "\n"))
			for channel, want := range tc.says {
				if told := w.told[channel].String(); !strings.Contains(told, want) || leaks(told) {
					t.Errorf("%s\n%s tells it, or does not have %q:\n%s", tc.reason, channel, want, told)
				}
			}
		})
	}
}

// TestNamesFromASecret says of which names a value is told that is the same: of the object
// that is looked at, unless rules have made it and may have named it by the Secret.
func TestNamesFromASecret(t *testing.T) {
	cases := map[string]struct {
		reason, object, rules, want string
	}{
		"somebody else's": {"Each line has it anyway.", `{metadata: {namespace: ns, name: ` + canary + `}}`, tells, "Told it is " + canary},
		"of rules":        {"It is from there.", `{metadata: {namespace: ns, name: ` + canary + `, labels: {dyncontroller.dev/set: any}}}`, tells, "Told it is (masked)"},
		"to be made":      {"It is from there too.", small, strings.Replace(names, "made-", "", 1), "Told it is (masked)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.put(t, login)
			c.put(t, tc.object)
			settledBy(t, c, &witness{}, tc.rules, false)
			if len(c.events) != 1 || !strings.HasPrefix(c.events[0], tc.want+",") {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, c.events)
			}
		})
	}
}

// TestACutNameTellsNoSecret holds that what is left of a value is masked in a name that is
// too long with it.
func TestACutNameTellsNoSecret(t *testing.T) {
	long := strings.Repeat("0123456789", 6)
	c, w := newCluster(), &witness{}
	c.put(t, strings.Replace(login, "Y2FuYXJ5LWluLWEtbWluZQ==", base64.StdEncoding.EncodeToString([]byte(long)), 1))
	c.put(t, small)
	settledBy(t, c, w, strings.Replace(generates, `"${password}-"`, `"of-${password}-"`, 1), false)
	if made := c.list(items); len(made) != 2 || !strings.HasPrefix(made[0], "of-"+long[:50]) {
		t.Fatalf("made are %q", made)
	}
	for channel, told := range w.told {
		if strings.Contains(told.String(), long[:50]) {
			t.Errorf("%s tells it:\n%s", channel, told)
		}
	}
}
