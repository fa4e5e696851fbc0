package cli

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestCheckCache(t *testing.T) {
	t.Parallel()
	key := informer.Key{Namespace: "shop"}
	key.GVR.Resource, key.GVR.Version = "pods", "v1"
	cases := map[string]struct {
		reason string
		status informer.Status
		late   bool
		as     types.NamespacedName
		rules  []string
		want   telemetry.Check
	}{
		"listing":      {reason: "Nothing is known yet.", want: telemetry.Check{State: telemetry.NotReady, Detail: "listing"}},
		"late":         {reason: "A set that changes takes nobody else's readiness.", late: true, want: telemetry.Check{State: telemetry.Degraded, Detail: "listing"}},
		"late, asking": {reason: "Nor does an account that comes and goes.", late: true, status: informer.Status{Err: operator.ErrUnreviewed}, want: telemetry.Check{State: telemetry.Degraded, Detail: operator.ErrUnreviewed.Error()}},
		"late, synced": {reason: "All is well.", late: true, status: informer.Status{Synced: true}, want: telemetry.Check{State: telemetry.Ready, Detail: "synced"}},
		"synced":       {reason: "All is well.", status: informer.Status{Synced: true}, want: telemetry.Check{State: telemetry.Ready, Detail: "synced"}},
		"failing":      {reason: "What is known holds up only its own rules.", status: informer.Status{Err: errTest("forbidden")}, want: telemetry.Check{State: telemetry.Degraded, Detail: "forbidden"}},
		"cut off":      {reason: "The cache is complete, and out of date.", status: informer.Status{Synced: true, Err: errTest("gone")}, want: telemetry.Check{State: telemetry.Degraded, Detail: "synced, and cut off since: gone"}},
		"asking":       {reason: "A standby is not ready before it may fill its caches.", status: informer.Status{Err: operator.ErrUnreviewed}, want: telemetry.Check{State: telemetry.NotReady, Detail: operator.ErrUnreviewed.Error()}},
		"cannot":       {reason: "That it cannot be asked may last, and holds up only its own rules.", status: informer.Status{Err: fmt.Errorf("%w: %w", operator.ErrUnreviewed, errTest("no answer"))}, want: telemetry.Check{State: telemetry.Degraded, Detail: operator.ErrUnreviewed.Error() + ": no answer"}},
		"rules": {
			reason: "Who waits for it is told.", status: informer.Status{Err: errTest("no such resource")}, rules: []string{"a/b", "and 7 more"},
			want: telemetry.Check{State: telemetry.Degraded, Detail: "no such resource; rules wait for it: a/b, and 7 more"},
		},
		"rules, listing": {
			reason: "At the start too.", rules: []string{"a/b"},
			want: telemetry.Check{State: telemetry.NotReady, Detail: "listing; rules wait for it: a/b"},
		},
		"tenant": {reason: "Two identities have a cache each of the same.", status: informer.Status{Synced: true}, as: types.NamespacedName{Namespace: "shop", Name: "bot"}, want: telemetry.Check{State: telemetry.Ready, Detail: "synced"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.status.Key, tc.want.Name = key, "informer pods.v1 -n shop"
			if tc.as.Name != "" {
				tc.want.Name += " as shop/bot"
			}
			got := []telemetry.Check{checkCache(operator.Cache{Account: tc.as, Status: tc.status}, tc.rules)}
			if tc.late {
				// Everything was known once.
				s := &startup{}
				s.settle(noon, nil, nil)
				got = s.settle(noon, nil, got)
			}
			if diff := cmp.Diff([]telemetry.Check{tc.want}, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReadyStaysReady holds that readiness waits for the caches that there were when the
// rules were known, and for no others: or who changes a set could keep all replicas from
// being ready, from the start or later.
func TestReadyStaysReady(t *testing.T) {
	t.Parallel()
	check := func(name string, state telemetry.State) telemetry.Check {
		return telemetry.Check{Name: name, State: state}
	}
	const not, degraded, ready = telemetry.NotReady, telemetry.Degraded, telemetry.Ready
	var s startup
	now := noon
	for _, step := range []struct {
		reason  string
		process telemetry.State
		caches  []telemetry.Check
		want    []telemetry.State
	}{
		{"Which caches there will be is not known.", not, nil, nil},
		{"It still is not.", not, []telemetry.Check{check("a", ready), check("z", not)}, []telemetry.State{ready, not}},
		{"Those are the caches of the start.", degraded, []telemetry.Check{check("a", not), check("b", not), check("c", degraded)}, []telemetry.State{not, not, degraded}},
		{"A set has changed since: another cache does not count.", ready, []telemetry.Check{check("a", not), check("d", not)}, []telemetry.State{not, degraded}},
		{"What is gone is not waited for, nor when it comes back.", ready, []telemetry.Check{check("a", not), check("b", not)}, []telemetry.State{not, degraded}},
		{"The last one is known.", ready, []telemetry.Check{check("a", degraded), check("e", not)}, []telemetry.State{degraded, degraded}},
		{"Once is enough.", ready, []telemetry.Check{check("a", not), check("e", not)}, []telemetry.State{degraded, degraded}},
		{"Rules that are not known would be told by their own check.", not, []telemetry.Check{check("a", not)}, []telemetry.State{degraded}},
	} {
		var got []telemetry.State
		now = now.Add(4 * time.Second)
		for _, c := range s.settle(now, []telemetry.Check{check("rules", step.process)}, step.caches) {
			got = append(got, c.State)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s\n-want +got:\n%s", step.reason, diff)
		}
	}
}

// TestReadyIsNotHeldUp holds that readiness waits for a cache that is listing, and not for
// ever: the API server may never answer of one resource.
func TestReadyIsNotHeldUp(t *testing.T) {
	t.Parallel()
	var s startup
	settle := func(after time.Duration, process telemetry.State) telemetry.State {
		return s.settle(noon.Add(after), []telemetry.Check{{Name: "rules", State: process}}, []telemetry.Check{{Name: "slow"}, {Name: "good", State: telemetry.Ready}})[0].State
	}
	const hour = time.Hour
	for _, step := range []struct {
		reason  string
		after   time.Duration
		process telemetry.State
		want    telemetry.State
	}{
		{"It counts from when the rules are known.", 0, telemetry.NotReady, telemetry.NotReady},
		{"They are.", hour, telemetry.Ready, telemetry.NotReady},
		{"A list takes a moment.", hour + startPatience - 1, telemetry.Ready, telemetry.NotReady},
		{"Whoever has not answered by now may never do.", hour + startPatience, telemetry.Ready, telemetry.Degraded},
		{"This stays so.", hour, telemetry.Ready, telemetry.Degraded},
	} {
		if got := settle(step.after, step.process); got != step.want {
			t.Errorf("%s It is %d, want %d", step.reason, got, step.want)
		}
	}
}

// TestCheckBrief holds that who can merely reach the port is told of no tenant.
func TestCheckBrief(t *testing.T) {
	t.Parallel()
	process := []telemetry.Check{
		{Name: "rules", State: telemetry.Degraded, Detail: "tenant"}, {Name: "election", State: telemetry.Ready, Detail: "tenant has it"},
	}
	cache := func(state telemetry.State) telemetry.Check {
		return telemetry.Check{Name: "informer pods.v1 as tenant/bot", State: state, Detail: "tenant may not"}
	}
	const not, degraded, ready = telemetry.NotReady, telemetry.Degraded, telemetry.Ready
	cases := map[string]struct {
		reason string
		caches []telemetry.Check
		want   []string
	}{
		"none":     {reason: "There is nothing to count."},
		"all well": {reason: "One number is enough.", caches: []telemetry.Check{cache(ready), cache(ready)}, want: []string{"[+]2 caches: 2 synced"}},
		"degraded": {reason: "The mark is that of the worst.", caches: []telemetry.Check{cache(ready), cache(degraded), cache(ready)}, want: []string{"[!]3 caches: 2 synced, 1 degraded"}},
		"starting": {reason: "What readiness waits for is told.", caches: []telemetry.Check{cache(not), cache(degraded), cache(ready)}, want: []string{"[-]3 caches: 1 synced, 1 degraded, 1 listing"}},
		"one":      {reason: "A single one.", caches: []telemetry.Check{cache(not)}, want: []string{"[-]1 cache: 1 listing"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, check := range brief(process, tc.caches) {
				got = append(got, check.String())
			}
			if diff := cmp.Diff(append([]string{"[!]rules", "[+]election"}, tc.want...), got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
		})
	}
	if process[0].Detail == "" {
		t.Error("the checks themselves were changed")
	}
}

// TestReadyToAnybody sees what a process says on a port that others can reach.
func TestReadyToAnybody(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t)
	server.set(func(a *apiServer) { a.status = http.StatusServiceUnavailable })
	r := start(t, "-f", ruleFile(t, colors("blue")), "--kubeconfig", server.kubeconfig(), "--health-probe-bind-address=:0")
	r.says("waiting for the API server")
	code, body := r.get("health", "/readyz")
	if want := "[-]rules\nnot ready\n"; code != http.StatusServiceUnavailable || body != want {
		t.Errorf("before the API server answers: want %q, got %d %q", want, code, body)
	}
	server.set(func(a *apiServer) { a.status = http.StatusOK })
	r.says("the API server answers")
	r.ready()
	code, body = r.get("health", "/readyz?verbose")
	if want := "[+]rules\n[+]1 cache: 1 synced\nok\n"; code != http.StatusOK || body != want {
		t.Errorf("then: want %q, got %d %q", want, code, body)
	}
	r.finish()
}

// TestCheckDeployment holds that the Deployment of deploy/base opens no port but that of
// the probes and that of the metrics, which take credentials.
func TestCheckDeployment(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../deploy/base/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := yaml.UnmarshalStrict(data, &deployment); err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	config.AddFlags(flags)
	if err := flags.Parse(pod.Spec.Containers[0].Args[1:]); err != nil {
		t.Fatal(err)
	}
	settings, err := config.Load(flags, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !settings.Listen.Secure && !telemetry.Loopback(settings.Listen.Metrics) {
		t.Errorf("the metrics are open to everybody on %q", settings.Listen.Metrics)
	}
	for _, port := range pod.Spec.Containers[0].Ports {
		listens := map[string]string{"health": settings.Listen.Health, "metrics": settings.Listen.Metrics}[port.Name]
		if listens != fmt.Sprintf(":%d", port.ContainerPort) {
			t.Errorf("port %d (%s) is announced", port.ContainerPort, port.Name)
		}
	}
	for name := range pod.Annotations {
		t.Errorf("the Pods have the annotation %q", name)
	}
}

func TestCheckRules(t *testing.T) {
	t.Parallel()
	s := &service{}
	for _, step := range []struct {
		trouble error
		detail  string
	}{{nil, "not in effect yet"}, {errTest("unreachable"), "unreachable"}} {
		s.note(nil, step.trouble, false)
		want := telemetry.Check{Name: "rules", State: telemetry.NotReady, Detail: step.detail}
		if diff := cmp.Diff(want, s.checkRules()); diff != "" {
			t.Errorf("before there are rules\n-want +got:\n%s", diff)
		}
	}
}

// TestCheckRulesInEffect holds that trouble with newer rules, or with the schemas of the
// cluster, is told, and holds nothing up.
func TestCheckRulesInEffect(t *testing.T) {
	t.Parallel()
	s := &service{active: &rules.Set{}}
	for _, step := range []struct {
		unfit bool
		want  string
	}{
		{false, "0 rules in effect, but there are newer ones that are wrong: no such field"},
		{true, "0 rules in effect, but they do not fit the schemas of the cluster: no such field"},
		{false, "0 rules in effect, but there are newer ones that are wrong: no such field"},
	} {
		s.note(nil, errTest("no such field"), step.unfit)
		want := telemetry.Check{Name: "rules", State: telemetry.Degraded, Detail: step.want}
		if diff := cmp.Diff(want, s.checkRules()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
