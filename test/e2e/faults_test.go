package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// startEngine runs an engine whose writes pass through a transport of the
// test's own.
func startEngine(t *testing.T, text string, wrap func(http.RoundTripper) http.RoundTripper) {
	t.Helper()
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(text)}}, rules.Options{})
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	config := cluster(t).RESTConfig()
	config.Wrap(wrap)
	writer, err := write.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	recorder, err := write.NewRecorder(cluster(t).RESTConfig(), "test", clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := live.NewReader(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{
		Caches: func(handler informer.Handler) engine.Caches {
			return informer.NewSet(client(t), handler, slog.New(slog.DiscardHandler), informer.Options{})
		},
		Live:     reader,
		Writer:   writer,
		Recorder: recorder,
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	e.SetRules(set)
}

// roundTripper is a function as a transport.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// TestConflict holds that a change by somebody else between snapshot and write
// is never lost: the write is refused, and the next one is decided afresh.
func TestConflict(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, tidbclusters, namespace, fmt.Sprintf(broken, "basic"))
		before := requests(t)
		var once sync.Once
		var codes []int
		startEngine(t, strings.ReplaceAll(guardrails, "NAMESPACE", namespace), func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				once.Do(func() {
					// Somebody makes PD odd already, and sets a field of their own.
					edit(t, tidbclusters, namespace, "basic", `{"spec":{"timezone":"UTC","pd":{"replicas":5}}}`)
				})
				response, err := next.RoundTrip(request)
				if err == nil {
					codes = append(codes, response.StatusCode)
				}
				return response, err
			})
		})
		eventually(t, "the rules have acted", func() bool {
			return field(get(t, tidbclusters, namespace, "basic"), "spec", "tikv", "replicas") == int64(3)
		})
		object := get(t, tidbclusters, namespace, "basic")
		if pd, zone := field(object, "spec", "pd", "replicas"), field(object, "spec", "timezone"); pd != int64(5) || zone != "UTC" {
			t.Errorf("PD is %v, want their 5; the time zone is %v, want their UTC", pd, zone)
		}
		if version := field(object, "spec", "version"); version != "v8.5.5" {
			t.Errorf("the version is %v, want the rule's v8.5.5", version)
		}
		patches := func(code string) int {
			return requests(t).Since(before).Count(controlplane.Request{Verb: "PATCH", Resource: "tidbclusters", Code: code})
		}
		if conflicts, written := patches("409"), patches("200"); conflicts != 1 || written != 2 {
			t.Errorf("want one 409, their write and one of the rules; have %d and %d (%v)", conflicts, written, codes)
		}
		eventually(t, "the events are there", func() bool { return len(listEvents(t, namespace)) == 2 })
		for _, event := range listEvents(t, namespace) {
			if event.Reason == "EvenPD" {
				t.Errorf("an event tells of what the thrown away plan wanted: %s", event.Note)
			}
		}
	})
}

// TestOutage holds that nothing is lost when etcd and the API server are killed
// while the rules are at work, and come back.
func TestOutage(t *testing.T) {
	alongside(t)
	const objects = 150
	namespace := cluster(t).Namespace(t)
	for i := range objects {
		create(t, tidbclusters, namespace, fmt.Sprintf(broken, fmt.Sprintf("basic-%d", i)))
	}
	rules := rulesFile(t, namespace, guardrails)
	p := start(t, "--rules", rules, "--workers", "2")
	eventually(t, "some are repaired", func() bool { return countRepaired(t, namespace) > objects/10 })
	if err := controlPlane(t).Kill(t.Context(), controlplane.APIServer, controlplane.Etcd); err != nil {
		t.Fatal(err)
	}
	// The engine must have met the outage before it ends.
	eventually(t, "a request fails", func() bool { return strings.Contains(p.output.String(), "connection refused") })
	if err := controlPlane(t).Restart(t.Context(), controlplane.Etcd, controlplane.APIServer); err != nil {
		t.Fatal(err)
	}
	if early := countRepaired(t, namespace); early == objects {
		t.Error("all was repaired before the outage: it proves nothing")
	}
	within(t, 5*time.Minute, "all are repaired", func() bool { return countRepaired(t, namespace) == objects })
	eventually(t, "all events are there", func() bool { return len(listEvents(t, namespace)) == 3*objects })
	if code := p.wait(t); code != 0 {
		t.Errorf("ended with %d", code)
	}
	for _, event := range listEvents(t, namespace) {
		if event.Series != nil {
			t.Errorf("an event was counted twice: %s on %s", event.Reason, event.Regarding.Name)
		}
	}
	before := requests(t)
	if output, code := once(t, "--rules", rules); code != 0 {
		t.Errorf("a second run ended with %d:\n%s", code, output)
	}
	if writes := ours(requests(t).Since(before)); len(writes) > 0 {
		t.Errorf("a second run sent writes:\n%s", writes)
	}
}

func countRepaired(t *testing.T, namespace string) int {
	t.Helper()
	list, err := client(t).Resource(tidbclusters).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for i := range list.Items {
		if field(&list.Items[i], "spec", "version") == "v8.5.5" {
			count++
		}
	}
	return count
}

// TestLostAnswer holds that a write that was stored, but whose answer never
// came, is neither lost nor doubled, and told of.
func TestLostAnswer(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, tidbclusters, namespace, fmt.Sprintf(broken, "basic"))
		before := requests(t)
		lost := false
		startEngine(t, strings.ReplaceAll(guardrails, "NAMESPACE", namespace), func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				response, err := next.RoundTrip(request)
				if lost || err != nil {
					return response, err
				}
				lost = true
				_ = response.Body.Close()
				return nil, errors.New("the connection broke")
			})
		})
		eventually(t, "it is repaired", func() bool { return repaired(t, namespace, "basic") == "" })
		patches := requests(t).Since(before).Count(controlplane.Request{Verb: "PATCH", Resource: "tidbclusters", Code: "200"})
		if patches != 1 {
			t.Errorf("the object was written %d times, want once", patches)
		}
		eventually(t, "the events are there", func() bool { return len(listEvents(t, namespace)) == 3 })
	})
}
