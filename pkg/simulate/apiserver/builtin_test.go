package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

const (
	wrongUID  = "00000000-0000-4000-8000-00000000abcd"
	noVersion = "metadata.resourceVersion"
)

// cluster is a world that is asked through the handlers.
type cluster struct {
	t    *testing.T
	http http.RoundTripper
	// uid and version are those of the last object in an answer, before the version that
	// was different from it.
	uid, version, before string
}

// builtIn is a server without definitions.
var builtIn = sync.OnceValues(func() (*apiserver.Server, error) { return apiserver.New(nil) })

func newCluster(t *testing.T) *cluster {
	t.Helper()
	server, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	world := storage.NewWorld(clocktesting.NewFakeClock(time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)))
	return &cluster{t: t, http: server.Transport(world)}
}

// answer is what comes back.
type answer struct {
	code int
	body map[string]any
}

// ask sends a request; {uid}, {version} and {before} stand for what was answered last.
func (c *cluster) ask(method, path, kind, body string) answer {
	c.t.Helper()
	body = strings.NewReplacer("{uid}", c.uid, "{version}", c.version, "{before}", c.before).Replace(body)
	r, err := http.NewRequestWithContext(c.t.Context(), method, "http://server"+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Accept", plain)
	r.Header.Set("User-Agent", "agent/1")
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	got, err := c.http.RoundTrip(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer got.Body.Close() //nolint:errcheck // It is in memory.
	out := answer{code: got.StatusCode}
	if err := json.NewDecoder(got.Body).Decode(&out.body); err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	c.see(out)
	return out
}

func (c *cluster) see(a answer) {
	if uid := a.at("metadata.uid"); uid != "" {
		c.uid = uid
	}
	if version := a.at("metadata.resourceVersion"); version != "" && a.at("metadata.uid") != "" && version != c.version {
		c.before, c.version = c.version, version
	}
}

// at is the value at a path of fields and indexes, as text: "" where there is none, JSON
// where it is no scalar.
func (a answer) at(path string) string {
	var value any = a.body
	for step := range strings.SplitSeq(path, ".") {
		step = strings.ReplaceAll(step, "~", ".")
		switch in := value.(type) {
		case map[string]any:
			value = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				return ""
			}
			value = in[i]
		default:
			return ""
		}
	}
	switch value := value.(type) {
	case nil:
		return ""
	case map[string]any, []any:
		text, err := json.Marshal(value)
		if err != nil {
			return err.Error()
		}
		return string(text)
	default:
		return fmt.Sprint(value)
	}
}

// step is a request, with what is answered to it.
type step struct {
	ask    string // the method and the path below that of the test
	kind   string
	body   string
	code   int
	want   map[string]string // by path; "" for nothing there
	reason string
}

// run takes the steps one after another.
func (c *cluster) run(base string, steps []step) {
	c.t.Helper()
	for i, s := range steps {
		method, path, _ := strings.Cut(s.ask, " ")
		got := c.ask(method, base+path, s.kind, s.body)
		if got.code != s.code {
			c.t.Errorf("step %d, %s: %s %s: got %d, want %d: %v", i, s.reason, s.ask, s.body, got.code, s.code, got.body)
		}
		for path, want := range s.want {
			if value := got.at(path); value != want {
				c.t.Errorf("step %d, %s: %s: %s is %q, want %q", i, s.reason, s.ask, path, value, want)
			}
		}
	}
}

const (
	configMaps  = "/api/v1/namespaces/n/configmaps"
	deployments = "/apis/apps/v1/namespaces/n/deployments"
	pods        = "/api/v1/namespaces/n/pods"
)

func TestBuiltinGuards(t *testing.T) {
	t.Parallel()
	newCluster(t).run(configMaps, []step{
		{"GET /a", "", "", http.StatusNotFound, map[string]string{"reason": "NotFound", "message": `configmaps "a" not found`}, "there is nothing yet"},
		{"POST ?fieldManager=c", plain, `{"metadata":{"name":"a"},"data":{"k":"v"}}`, http.StatusCreated, map[string]string{
			"kind": "ConfigMap", "apiVersion": "v1", "metadata.creationTimestamp": "2026-01-02T03:04:05Z", "metadata.namespace": "n",
			"metadata.managedFields.0.manager": "c", "metadata.managedFields.0.time": "2026-01-02T03:04:05Z", "metadata.generation": "",
		}, "time and namespace are the world's"},
		{"POST ", plain, `{"metadata":{"name":"a"}}`, http.StatusConflict, map[string]string{"reason": "AlreadyExists"}, "there already"},
		{"PATCH /a", merge, `{"data":{"k":"w"}}`, http.StatusOK, map[string]string{"data.k": "w"}, "unguarded"},
		{"PATCH /a", merge, `{"metadata":{"resourceVersion":"{before}"}}`, http.StatusConflict, map[string]string{"reason": "Conflict"}, "stale"},
		{"PATCH /a", merge, `{"metadata":{"resourceVersion":"{version}","uid":"{uid}"},"data":{"k":"x"}}`, http.StatusOK, nil, "both right"},
		{"PATCH /a", merge, `{"metadata":{"uid":"` + wrongUID + `"}}`, http.StatusUnprocessableEntity, map[string]string{
			"reason": "Invalid", "details.causes.0.field": "metadata.uid", "details.causes.1": "",
		}, "a wrong uid alone is invalid, and said once"},
		{"PATCH /a", merge, `{"metadata":{"resourceVersion":"{version}","uid":"` + wrongUID + `"}}`, http.StatusUnprocessableEntity, nil, "the same with a version"},
		{"PATCH /a", merge, `{"metadata":{"resourceVersion":"{before}","uid":"` + wrongUID + `"}}`, http.StatusConflict, nil, "the version is looked at first"},
		{"PATCH /a", merge, `{"metadata":{"resourceVersion":""},"data":{"k":"y"}}`, http.StatusOK, nil, "no guard for built-in kinds"},
		{"PATCH /a", merge, `{"metadata":{"resourceVersion":"0"},"data":{"k":"z"}}`, http.StatusOK, nil, "nor is this"},
		{"PATCH /a", merge, `{"metadata":{"resourceVersion":"1"}}`, http.StatusConflict, nil, "this is"},
		{"PATCH /a", jsonPatch, `[{"op":"replace","path":"/metadata/resourceVersion","value":"{before}"}]`, http.StatusConflict, nil, "stale"},
		{"PATCH /a", jsonPatch, `[{"op":"replace","path":"/metadata/resourceVersion","value":"{version}"}]`, http.StatusOK, nil, "right"},
		{"PATCH /a", jsonPatch, `[{"op":"test","path":"/data/k","value":"no"}]`, http.StatusUnprocessableEntity, map[string]string{"reason": "Invalid"}, "a test fails"},
		{"DELETE /a", plain, `{"preconditions":{"uid":"` + wrongUID + `"}}`, http.StatusConflict, nil, "a wrong uid"},
		{"DELETE /a", plain, `{"preconditions":{"resourceVersion":"{before}"}}`, http.StatusConflict, nil, "stale"},
		{"DELETE /a", plain, `{"preconditions":{"resourceVersion":"{version}","uid":"{uid}"}}`, http.StatusOK, map[string]string{"kind": "Status", "status": "Success"}, "both right"},
		{"DELETE /a", "", "", http.StatusNotFound, nil, "gone"},
	})
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	tests := []struct{ body, field, reason string }{
		{`{"metadata":{"name":"b"}}`, "", "another name"},
		{`{"metadata":{"labels":{"bad key!":"v"}}}`, "metadata.labels", "a key of labels"},
		{`{"metadata":{"labels":{"k":"bad value!"}}}`, "metadata.labels", "a value of labels"},
		{`{"metadata":{"annotations":{"bad key!":"v"}}}`, "metadata.annotations", "a key of annotations"},
		{`{"metadata":{"finalizers":["nodomain"]}}`, "metadata.finalizers[0]", "a finalizer that is not Kubernetes' own"},
		{`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o"}]}}`, "metadata.ownerReferences[0].uid", "an owner without a uid"},
		{`{"metadata":{"deletionTimestamp":"2001-01-01T00:00:00Z"}}`, "metadata.deletionTimestamp", "nobody sets it"},
	}
	c := newCluster(t)
	c.ask("POST", configMaps, plain, `{"metadata":{"name":"a"}}`)
	for _, test := range tests {
		got := c.ask("PATCH", configMaps+"/a", merge, test.body)
		if got.code != http.StatusUnprocessableEntity && got.code != http.StatusBadRequest {
			t.Errorf("%s: got %d", test.reason, got.code)
		}
		if field := got.at("details.causes.0.field"); field != test.field || got.at("details.causes.1") != "" {
			t.Errorf("%s: %s is wrong, want %s, once: %v", test.reason, field, test.field, got.body)
		}
	}
	c.run(configMaps, []step{
		{
			"PATCH /a", merge, `{"metadata":{"creationTimestamp":"2001-01-01T00:00:00Z"}}`, http.StatusOK,
			map[string]string{"metadata.creationTimestamp": "2026-01-02T03:04:05Z"},
			"it stays",
		},
		{"PATCH /a", merge, `{"data":{"k":1}}`, http.StatusUnprocessableEntity, nil, "a wrong type"},
		{"PATCH /a", merge, `[`, http.StatusBadRequest, nil, "no JSON"},
		{"PATCH /a?fieldValidation=Strict", merge, `{"nobody":1}`, http.StatusUnprocessableEntity, nil, "strict about fields nobody knows"},
		{"POST ", plain, `{"metadata":{"name":"Bad_Name"}}`, http.StatusUnprocessableEntity, map[string]string{"details.causes.0.field": "metadata.name"}, "a name"},
		{"POST ", plain, `{"metadata":{}}`, http.StatusUnprocessableEntity, nil, "no name"},
		{"POST ", plain, `{"metadata":{"name":"b","namespace":"other"}}`, http.StatusBadRequest, nil, "not the namespace of the path"},
	})
}

const (
	ok      = http.StatusOK
	created = http.StatusCreated
	invalid = http.StatusUnprocessableEntity
)

func TestStatusAndGeneration(t *testing.T) {
	t.Parallel()
	newCluster(t).run(deployments, []step{
		{
			"POST ?fieldManager=c", plain, `{"metadata":{"name":"a","generation":7},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}}},"status":{"replicas":9}}`, created,
			map[string]string{"metadata.generation": "1", "status": "{}", "metadata.managedFields.0.fieldsV1.f:status": ""},
			"a new object has no status",
		},
		{"PATCH /a", merge, `{"spec":{"replicas":2}}`, ok, map[string]string{"metadata.generation": "2"}, "the spec counts"},
		{"PATCH /a", merge, `{"metadata":{"annotations":{"a":"b"}}}`, ok, map[string]string{"metadata.generation": "3"}, "for Deployments annotations count"},
		{"PATCH /a", merge, `{"metadata":{"labels":{"a":"b"}}}`, ok, map[string]string{"metadata.generation": "3"}, "labels do not"},
		{"PATCH /a", merge, `{"metadata":{"generation":99}}`, ok, map[string]string{"metadata.generation": "3"}, "nobody sets it"},
		{"PATCH /a", merge, `{"status":{"replicas":5}}`, ok, map[string]string{"status": "{}"}, "the status is not written here"},
		{
			"PATCH /a/status?fieldManager=s", merge, `{"status":{"replicas":5},"spec":{"replicas":9},"metadata":{"labels":{"a":"c"},"annotations":{"a":"c"}}}`, ok,
			map[string]string{"status.replicas": "5", "spec.replicas": "2", "metadata.labels.a": "b", "metadata.annotations.a": "c", "metadata.generation": "3"},
			"and only it here, but for some metadata",
		},
		{"PATCH /a/status", merge, `{"metadata":{"uid":"` + wrongUID + `"},"status":{"replicas":6}}`, invalid, nil, "a wrong uid"},
		{"PATCH /a/status", merge, `{"metadata":{"resourceVersion":"{before}"},"status":{"replicas":6}}`, http.StatusConflict, nil, "stale"},
		{"PATCH /b/status", merge, `{"status":{"replicas":6}}`, http.StatusNotFound, nil, "nothing there"},
		{"PATCH /a", merge, `{"spec":{"selector":{"matchLabels":{"a":"c"}}}}`, invalid, map[string]string{
			"details.causes.0.field": "spec.selector", "details.group": "apps",
			"message": `Deployment.apps "a" is invalid: spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable`,
		}, "selectors stay"},
	})
}

func TestStatusOfAloofKinds(t *testing.T) {
	t.Parallel()
	newCluster(t).run("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", []step{
		{"POST ", plain, `{"metadata":{"name":"a"}}`, created, nil, "new"},
		{
			"PATCH /a/status?fieldManager=s", merge, `{"metadata":{"labels":{"a":"b"}},"status":{"conditions":[{"type":"X"}]}}`, ok,
			map[string]string{"metadata.labels": "", "status.conditions.0.type": "X"},
			"a status has no labels to give",
		},
	})
}

func TestScale(t *testing.T) {
	t.Parallel()
	newCluster(t).run(deployments, []step{
		{"POST ?fieldManager=c", plain, `{"metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}}}}`, created, nil, "new"},
		{"GET /a/scale", "", "", ok, map[string]string{"kind": "Scale", "apiVersion": "autoscaling/v1", "spec.replicas": "1", "status.selector": "a=b"}, "read"},
		{"PATCH /a/scale?fieldManager=s", merge, `{"spec":{"replicas":3}}`, ok, map[string]string{"spec.replicas": "3"}, "scaled"},
		{"GET /a", "", "", ok, map[string]string{"spec.replicas": "3", "metadata.generation": "2", "metadata.managedFields.0.subresource": "scale"}, "seen"},
		{"PATCH /a/scale", merge, `{"spec":{"replicas":-1}}`, invalid, map[string]string{"details.causes.0.field": "spec.replicas"}, "below nothing"},
		{"PATCH /a/scale", merge, `{"metadata":{"resourceVersion":"1"},"spec":{"replicas":4}}`, http.StatusConflict, nil, "stale"},
		{"PATCH /a/scale", merge, `{"metadata":{"uid":"` + wrongUID + `"},"spec":{"replicas":4}}`, http.StatusConflict, nil, "a wrong uid"},
		{"PATCH /b/scale", merge, `{"spec":{"replicas":4}}`, http.StatusNotFound, nil, "nothing there"},
	})
	newCluster(t).run("/api/v1/namespaces/n/replicationcontrollers", []step{
		{"POST ", plain, `{"metadata":{"name":"a"},"spec":{"selector":{"a":"b"}}}`, created, nil, "its selector is a map"},
		{"GET /a/scale", "", "", ok, map[string]string{"spec": "{}", "status.selector": "a=b"}, "no number is written"},
	})
}

func TestFinalizers(t *testing.T) {
	t.Parallel()
	newCluster(t).run(configMaps, []step{
		{"POST ", plain, `{"metadata":{"name":"a","finalizers":["a.b/c","d.e/f"]}}`, created, nil, "new"},
		{"DELETE /a", "", "", ok, map[string]string{
			"kind": "ConfigMap", "metadata.deletionTimestamp": "2026-01-02T03:04:05Z", "metadata.deletionGracePeriodSeconds": "0",
		}, "it waits for its finalizers"},
		{"PATCH /a", merge, `{"metadata":{"finalizers":["a.b/c","g.h/i"]}}`, invalid, map[string]string{"details.causes.0.field": "metadata.finalizers"}, "too late for more"},
		{"PATCH /a", merge, `{"metadata":{"finalizers":["a.b/c"]},"data":{"k":"v"}}`, ok, map[string]string{"data.k": "v"}, "one is done"},
		{"PATCH /a", merge, `{"metadata":{"finalizers":null}}`, ok, map[string]string{"metadata.resourceVersion": "1003"}, "the last, answered with the old version"},
		{"GET /a", "", "", http.StatusNotFound, nil, "gone"},
		{"POST ", plain, `{"metadata":{"name":"b"}}`, created, nil, "another"},
		{"DELETE /b", plain, `{"propagationPolicy":"Foreground"}`, ok, map[string]string{"metadata.finalizers": `["foregroundDeletion"]`}, "what it owns goes first"},
	})
	newCluster(t).run("/apis/batch/v1/namespaces/n/jobs", []step{
		{"POST ", plain, `{"metadata":{"name":"a"},"spec":{"manualSelector":true}}`, created, nil, "a Job"},
		{"DELETE /a", "", "", ok, map[string]string{"metadata.finalizers": `["orphan"]`}, "it leaves its Pods unless told otherwise"},
	})
	newCluster(t).run("/apis/rbac.authorization.k8s.io/v1/namespaces/n/roles", []step{
		{"POST ", plain, `{"metadata":{"generateName":"a/"}}`, invalid, map[string]string{"details.causes.0.field": "metadata.generateName"}, "a part of a path"},
		{"POST ", plain, `{"metadata":{"generateName":"A:"}}`, created, nil, "any letters"},
	})
	newCluster(t).run("/apis/events.k8s.io/v1/namespaces/n/events", []step{
		{"POST ", plain, newEvent(""), created, nil, "an Event"},
		{"DELETE /e", plain, `{"propagationPolicy":"Foreground"}`, ok, map[string]string{"kind": "Status"}, "it owns nothing"},
	})
}

func newEvent(more string) string {
	return `{"metadata":{"name":"e"},"eventTime":"2026-01-01T00:00:00.000000Z","reason":"r","type":"Normal","action":"a",
		"reportingController":"c","reportingInstance":"i","regarding":{"namespace":"n"}` + more + `}`
}

func TestEvents(t *testing.T) {
	t.Parallel()
	newCluster(t).run("/apis/events.k8s.io/v1/namespaces/n/events", []step{
		{"POST ", plain, newEvent(`,"action":""`), invalid, map[string]string{"details.causes.0.field": "action", "message": `Event "e" is invalid: action: Required value`}, "an action"},
		{"POST ", plain, strings.Replace(newEvent(""), `{"namespace":"n"}`, `{}`, 1), invalid, map[string]string{"details.causes.0.field": "involvedObject.namespace"}, "cluster-scoped objects have theirs in default"},
		{"POST ", plain, newEvent(`,"type":"Loud"`), invalid, map[string]string{"details.causes.0.field": "type"}, "a type"},
		{"POST ", plain, newEvent(`,"reportingController":"a/b/c"`), invalid, map[string]string{"details.causes.0.field": "reportingController"}, "a qualified name"},
		{"POST ", plain, newEvent(`,"eventTime":null`), invalid, map[string]string{"details.causes.0.field": "eventTime", "details.causes.1": ""}, "a time"},
		{"POST ", plain, newEvent(`,"series":{"count":1,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}`), invalid, nil, "one is no series"},
		{"POST ", plain, newEvent(``), created, nil, "good"},
		{"PATCH /e", merge, `{"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`, ok, map[string]string{"series.count": "2"}, "a series"},
		{"PATCH /e", merge, `{"note":"other"}`, invalid, map[string]string{"details.causes.0.field": "message"}, "what was said stays"},
		{"PATCH /e", merge, `{"eventTime":"2026-01-01T00:00:01.000000Z"}`, invalid, nil, "and when"},
		{"PUT /f", plain, `{"metadata":{"name":"f"},"eventTime":"2026-01-01T00:00:00.000000Z","reason":"r","type":"Normal","action":"a",
			"reportingController":"c","reportingInstance":"i","regarding":{"namespace":"n"}}`, created, nil, "updates may create them"},
	})
}

func TestPods(t *testing.T) {
	t.Parallel()
	newCluster(t).run(pods, []step{
		{
			"POST ", plain, `{"metadata":{"name":"a"},"spec":{"nodeName":"x","containers":[{"name":"c","image":"i:1"}]}}`, created,
			map[string]string{"status.phase": "Pending", "status.qosClass": "BestEffort", "metadata.generation": "1"},
			"on a node",
		},
		{"PATCH /a", merge, `{"spec":{"nodeName":"y"}}`, invalid, map[string]string{"details.causes.0.field": "spec", "details.causes.0.reason": "FieldValueForbidden"}, "it does not move"},
		{"PATCH /a", merge, `{"spec":{"containers":[]}}`, invalid, map[string]string{"details.causes.0.field": "spec.containers"}, "nor lose containers"},
		{"PATCH /a", merge, `{"spec":{"containers":[{"name":"c","image":"i:2"}]}}`, ok, map[string]string{"metadata.generation": "2"}, "images may change"},
		{"PATCH /a", merge, `{"spec":{"activeDeadlineSeconds":5}}`, ok, nil, "a deadline may be set"},
		{"PATCH /a/status", merge, `{"status":{"qosClass":null}}`, ok, map[string]string{"status.qosClass": "BestEffort"}, "its class stays"},
		{"POST ", plain, `{"metadata":{"name":"i"},"spec":{"initContainers":[{"name":"c","image":"i:1"}],"containers":[{"name":"d","image":"i"}]}}`, created, nil, "another"},
		{"PATCH /i", merge, `{"spec":{"initContainers":[{"name":"c","image":"i:2"}]}}`, ok, nil, "its images may change, too"},
		{"PATCH /a", merge, `{"spec":{"activeDeadlineSeconds":null}}`, invalid, nil, "and not taken back"},
		{
			"PATCH /a/status", merge, `{"status":{"phase":"Running"},"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"X","name":"o","uid":"u"}]}}`, ok,
			map[string]string{"status.phase": "Running", "status.qosClass": "BestEffort", "metadata.ownerReferences": ""},
			"a status owns nothing",
		},
		{"DELETE /a", "", "", ok, map[string]string{
			"kind": "Pod", "metadata.deletionGracePeriodSeconds": "30", "metadata.deletionTimestamp": "2026-01-02T03:04:35Z", "metadata.generation": "4",
		}, "it has half a minute"},
		{"GET /a", "", "", ok, nil, "still there"},
		{"DELETE /a", plain, `{"gracePeriodSeconds":0}`, ok, nil, "the node is done"},
		{"GET /a", "", "", http.StatusNotFound, nil, "gone"},
		{
			"POST ", plain, `{"metadata":{"name":"b"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}`, created,
			map[string]string{"status.qosClass": "Burstable"},
			"waiting for a node",
		},
		{"DELETE /b", "", "", ok, nil, "nothing runs yet"},
		{"GET /b", "", "", http.StatusNotFound, nil, "gone at once"},
		{"POST ", plain, `{"metadata":{"name":"d"},"spec":{"nodeName":"x","terminationGracePeriodSeconds":5,
			"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1"}}}]}}`, created, map[string]string{"status.qosClass": "Guaranteed"}, "limits"},
		{"DELETE /d", "", "", ok, map[string]string{"metadata.deletionGracePeriodSeconds": "5"}, "as long as it asked for"},
	})
}

func TestNamespaces(t *testing.T) {
	t.Parallel()
	newCluster(t).run("/api/v1/namespaces", []step{
		{"POST ", plain, `{"metadata":{"name":"n"}}`, created, map[string]string{
			"status.phase": "Active", "spec.finalizers": `["kubernetes"]`, "metadata.labels.kubernetes~io/metadata~name": "n",
		}, "new"},
		{"PATCH /n", merge, `{"spec":{"finalizers":[]}}`, ok, map[string]string{"spec.finalizers": `["kubernetes"]`}, "they are not written here"},
		{"DELETE /n", plain, `{"preconditions":{"uid":"` + wrongUID + `"}}`, http.StatusConflict, nil, "a wrong uid"},
		{"DELETE /n", plain, `{"preconditions":{"resourceVersion":"1"}}`, http.StatusConflict, nil, "stale"},
		{"DELETE /n", plain, `{"propagationPolicy":"Foreground"}`, ok, map[string]string{
			"kind": "Namespace", "status.phase": "Terminating", "metadata.deletionTimestamp": "2026-01-02T03:04:05Z", "metadata.finalizers": `["foregroundDeletion"]`,
		}, "it begins to go"},
		{"DELETE /n", "", "", ok, map[string]string{"status.phase": "Terminating"}, "once more, to no effect"},
		{"GET /n", "", "", ok, nil, "still there: nobody empties it"},
		{"DELETE /m", "", "", http.StatusNotFound, nil, "nothing there"},
		{"POST ", plain, `{"metadata":{"name":"dots.are.wrong"}}`, invalid, map[string]string{"details.causes.0.field": "metadata.name"}, "a label of DNS"},
	})
}

func TestSecretsAndConfigMaps(t *testing.T) {
	t.Parallel()
	newCluster(t).run("/api/v1/namespaces/n/secrets", []step{
		{"POST ?fieldManager=c", plain, `{"metadata":{"name":"a"},"type":"t","data":{"k":"dg=="},"stringData":{"l":"w"}}`, created, map[string]string{
			"data": `{"k":"dg==","l":"dw=="}`, "stringData": "", "metadata.managedFields.0.fieldsV1.f:data": `{".":{},"f:k":{},"f:l":{}}`,
		}, "texts become data"},
		{"PATCH /a", merge, `{"stringData":{"k":"x"}}`, ok, map[string]string{"data.k": "eA==", "stringData": ""}, "in patches too"},
		{
			"PATCH /a?fieldManager=f", apply, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"m":"x"}}`, ok,
			map[string]string{"data.m": "eA==", "stringData": ""},
			"and where they are applied",
		},
		{"PATCH /a", merge, `{"type":null}`, ok, map[string]string{"type": "t"}, "the type stays"},
		{"PATCH /a", merge, `{"type":"u"}`, invalid, map[string]string{"details.causes.0.field": "type"}, "whatever is written"},
		{"PATCH /a", merge, `{"data":{"bad key":"dg=="}}`, invalid, map[string]string{"details.causes.0.field": "data[bad key]"}, "a key"},
		{"PATCH /a", merge, `{"data":{"k":"%"}}`, invalid, nil, "no base64"},
		{"PATCH /a", merge, `{"immutable":true}`, ok, nil, "from here on"},
		{"PATCH /a", merge, `{"stringData":{"k":"y"}}`, invalid, map[string]string{"details.causes.0.field": "data"}, "nothing changes"},
	})
	newCluster(t).run(configMaps, []step{
		{"POST ", plain, `{"metadata":{"name":"a"},"data":{"k":"v"},"binaryData":{"k":"dg=="}}`, invalid, map[string]string{"details.causes.0.field": "data[k]"}, "one key twice"},
		{"POST ", plain, `{"metadata":{"name":"a"},"data":{"k":"v"},"immutable":true}`, created, nil, "immutable"},
		{"PATCH /a", merge, `{"data":{"k":"w"}}`, invalid, map[string]string{
			"message": "ConfigMap \"a\" is invalid: data: Forbidden: field is immutable when `immutable` is set",
		}, "its data stays"},
		{"PATCH /a", merge, `{"immutable":null}`, invalid, map[string]string{"details.causes.0.field": "immutable"}, "and that it does"},
		{"PATCH /a", merge, `{"metadata":{"labels":{"a":"b"}}}`, ok, nil, "its metadata does not"},
	})
}

func TestJobs(t *testing.T) {
	t.Parallel()
	newCluster(t).run("/apis/batch/v1/namespaces/n/jobs", []step{
		{"POST ", plain, `{"metadata":{"name":"a"}}`, created, map[string]string{
			"spec.template.metadata.labels.job-name": "a", "spec.template.metadata.labels.batch~kubernetes~io/job-name": "a",
		}, "it knows its Pods by labels"},
		{"PATCH /a", merge, `{"spec":{"template":{"spec":{"hostname":"x"}}}}`, invalid, map[string]string{"details.causes.0.field": "spec.template"}, "Pods stay as they are"},
		{"POST ", plain, `{"metadata":{"name":"b"},"spec":{"suspend":true}}`, created, nil, "not begun"},
		{"PATCH /b", merge, `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`, ok, nil, "there are no Pods yet"},
		{"POST ", plain, `{"metadata":{"name":"c"},"spec":{"manualSelector":true}}`, created, map[string]string{"spec.selector": ""}, "its selector is somebody else's"},
	})
}

func TestOddities(t *testing.T) {
	t.Parallel()
	tests := []struct {
		base, reason string
		steps        []step
	}{
		{"/apis/apps/v1/namespaces/n/daemonsets", "templates of DaemonSets are counted", []step{
			{"POST ", plain, `{"metadata":{"name":"a"}}`, created, map[string]string{"metadata.annotations.deprecated~daemonset~template~generation": "1"}, "new"},
			{"PATCH /a", merge, `{"spec":{"minReadySeconds":1}}`, ok, map[string]string{
				"metadata.annotations.deprecated~daemonset~template~generation": "1", "metadata.generation": "2",
			}, "not of the template"},
			{"PATCH /a", merge, `{"spec":{"template":{"spec":{"hostname":"x"}}}}`, ok, map[string]string{
				"metadata.annotations.deprecated~daemonset~template~generation": "2", "metadata.generation": "3",
			}, "of the template"},
		}},
		{"/api/v1/nodes", "all of a Node may be used", []step{
			{"POST ", plain, `{"metadata":{"name":"a"},"status":{"capacity":{"cpu":"1"}}}`, created, map[string]string{"status.allocatable.cpu": "1"}, "as it registers"},
		}},
		{"/api/v1/namespaces/n/serviceaccounts", "secrets are named only", []step{
			{"POST ", plain, `{"metadata":{"name":"a"},"secrets":[{"name":"s","namespace":"x"}]}`, created, map[string]string{"secrets.0": `{"name":"s"}`}, "new"},
			{"PATCH /a", merge, `{"secrets":[{"name":"t","kind":"x"}]}`, ok, map[string]string{"secrets.0": `{"name":"t"}`}, "changed"},
		}},
		{"/apis/batch/v1/namespaces/n/cronjobs", "Jobs need room in a name", []step{
			{"POST ", plain, `{"metadata":{"name":"a123456789a123456789a123456789a123456789a123456789abc"}}`, invalid, map[string]string{"details.causes.0.field": "metadata.name"}, "53 letters"},
		}},
		{"/apis/storage.k8s.io/v1/csidrivers", "drivers are counted from a change on", []step{
			{"POST ", plain, `{"metadata":{"name":"a"}}`, created, map[string]string{"metadata.generation": ""}, "new"},
			{"PATCH /a", merge, `{"spec":{"podInfoOnMount":true}}`, ok, map[string]string{"metadata.generation": "1"}, "changed"},
		}},
		{"/apis/scheduling.k8s.io/v1/priorityclasses", "a priority stays", []step{
			{"POST ", plain, `{"metadata":{"name":"a"},"value":1}`, created, map[string]string{"metadata.generation": "1"}, "new"},
			{"PATCH /a", merge, `{"value":2}`, invalid, map[string]string{"details.causes.0.field": "value"}, "another value"},
			{"PATCH /a", merge, `{"description":"d"}`, ok, map[string]string{"metadata.generation": "1"}, "never counted"},
		}},
		{"/apis/certificates.k8s.io/v1/certificatesigningrequests", "a request is made once", []step{
			{"POST ", plain, `{"metadata":{"name":"a:b"},"spec":{"signerName":"s"}}`, created, nil, "new"},
			{"PATCH /a:b", merge, `{"spec":{"signerName":"t"}}`, ok, map[string]string{"spec.signerName": "s"}, "it stays"},
		}},
		{"/api/v1/namespaces/n/persistentvolumeclaims", "claims are pending", []step{
			{"POST ", plain, `{"metadata":{"name":"a"}}`, created, map[string]string{"status.phase": "Pending"}, "new"},
		}},
		{configMaps, "names are made of what is in the world", []step{
			{"POST ", plain, `{"metadata":{"generateName":"g-"}}`, created, nil, "one"},
			{"POST ", plain, `{"metadata":{"generateName":"g-"}}`, created, nil, "another, of another name"},
		}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			newCluster(t).run(test.base, test.steps)
		})
	}
}
