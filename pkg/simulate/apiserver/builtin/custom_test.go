package builtin_test

import (
	"net/http"
	"strings"
	"testing"
)

const (
	ok      = http.StatusOK
	made    = http.StatusCreated
	invalid = http.StatusUnprocessableEntity
)

func TestStatusAndGeneration(t *testing.T) {
	t.Parallel()
	newCluster(t).run(deployments, []step{
		{
			"POST ?fieldManager=c", asJSON, `{"metadata":{"name":"a","generation":7},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}}},"status":{"replicas":9}}`, made,
			map[string]string{"metadata.generation": "1", "status": "{}", "metadata.managedFields.0.fieldsV1.f:status": ""},
			"a new object has no status",
		},
		{"PATCH /a", asMerge, `{"spec":{"replicas":2}}`, ok, map[string]string{"metadata.generation": "2"}, "the spec counts"},
		{"PATCH /a", asMerge, `{"metadata":{"annotations":{"a":"b"}}}`, ok, map[string]string{"metadata.generation": "3"}, "for Deployments annotations count"},
		{"PATCH /a", asMerge, `{"metadata":{"labels":{"a":"b"}}}`, ok, map[string]string{"metadata.generation": "3"}, "labels do not"},
		{"PATCH /a", asMerge, `{"metadata":{"generation":99}}`, ok, map[string]string{"metadata.generation": "3"}, "nobody sets it"},
		{"PATCH /a", asMerge, `{"status":{"replicas":5}}`, ok, map[string]string{"status": "{}"}, "the status is not written here"},
		{
			"PATCH /a/status?fieldManager=s", asMerge, `{"status":{"replicas":5},"spec":{"replicas":9},"metadata":{"labels":{"a":"c"},"annotations":{"a":"c"}}}`, ok,
			map[string]string{"status.replicas": "5", "spec.replicas": "2", "metadata.labels.a": "b", "metadata.annotations.a": "c", "metadata.generation": "3"},
			"and only it here, but for some metadata",
		},
		{"PATCH /a/status", asMerge, `{"metadata":{"uid":"` + wrongUID + `"},"status":{"replicas":6}}`, invalid, nil, "a wrong uid"},
		{"PATCH /a/status", asMerge, `{"metadata":{"resourceVersion":"{before}"},"status":{"replicas":6}}`, http.StatusConflict, nil, "stale"},
		{"PATCH /b/status", asMerge, `{"status":{"replicas":6}}`, http.StatusNotFound, nil, "nothing there"},
		{"PATCH /a", asMerge, `{"spec":{"selector":{"matchLabels":{"a":"c"}}}}`, invalid, map[string]string{
			"details.causes.0.field": "spec.selector", "details.group": "apps",
			"message": `Deployment.apps "a" is invalid: spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable`,
		}, "selectors stay"},
	})
}

func TestStatusOfAloofKinds(t *testing.T) {
	t.Parallel()
	newCluster(t).run("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", []step{
		{"POST ", asJSON, `{"metadata":{"name":"a"}}`, made, nil, "new"},
		{
			"PATCH /a/status?fieldManager=s", asMerge, `{"metadata":{"labels":{"a":"b"}},"status":{"conditions":[{"type":"X"}]}}`, ok,
			map[string]string{"metadata.labels": "", "status.conditions.0.type": "X"},
			"a status has no labels to give",
		},
	})
}

func TestScale(t *testing.T) {
	t.Parallel()
	newCluster(t).run(deployments, []step{
		{"POST ?fieldManager=c", asJSON, `{"metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}}}}`, made, nil, "new"},
		{"GET /a/scale", "", "", ok, map[string]string{"kind": "Scale", "apiVersion": "autoscaling/v1", "spec.replicas": "1", "status.selector": "a=b"}, "read"},
		{"PATCH /a/scale?fieldManager=s", asMerge, `{"spec":{"replicas":3}}`, ok, map[string]string{"spec.replicas": "3"}, "scaled"},
		{"GET /a", "", "", ok, map[string]string{"spec.replicas": "3", "metadata.generation": "2", "metadata.managedFields.0.subresource": "scale"}, "seen"},
		{"PATCH /a/scale", asMerge, `{"spec":{"replicas":-1}}`, invalid, map[string]string{"details.causes.0.field": "spec.replicas"}, "below nothing"},
		{"PATCH /a/scale", asMerge, `{"metadata":{"resourceVersion":"1"},"spec":{"replicas":4}}`, http.StatusConflict, nil, "stale"},
		{"PATCH /a/scale", asMerge, `{"metadata":{"uid":"` + wrongUID + `"},"spec":{"replicas":4}}`, http.StatusConflict, nil, "a wrong uid"},
		{"PATCH /b/scale", asMerge, `{"spec":{"replicas":4}}`, http.StatusNotFound, nil, "nothing there"},
	})
	newCluster(t).run("/api/v1/namespaces/n/replicationcontrollers", []step{
		{"POST ", asJSON, `{"metadata":{"name":"a"},"spec":{"selector":{"a":"b"}}}`, made, nil, "its selector is a map"},
		{"GET /a/scale", "", "", ok, map[string]string{"spec": "{}", "status.selector": "a=b"}, "no number is written"},
	})
}

func TestFinalizers(t *testing.T) {
	t.Parallel()
	newCluster(t).run(configMaps, []step{
		{"POST ", asJSON, `{"metadata":{"name":"a","finalizers":["a.b/c","d.e/f"]}}`, made, nil, "new"},
		{"DELETE /a", "", "", ok, map[string]string{
			"kind": "ConfigMap", "metadata.deletionTimestamp": "2026-01-02T03:04:05Z", "metadata.deletionGracePeriodSeconds": "0",
		}, "it waits for its finalizers"},
		{"PATCH /a", asMerge, `{"metadata":{"finalizers":["a.b/c","g.h/i"]}}`, invalid, map[string]string{"details.causes.0.field": "metadata.finalizers"}, "too late for more"},
		{"PATCH /a", asMerge, `{"metadata":{"finalizers":["a.b/c"]},"data":{"k":"v"}}`, ok, map[string]string{"data.k": "v"}, "one is done"},
		{"PATCH /a", asMerge, `{"metadata":{"finalizers":null}}`, ok, map[string]string{"metadata.resourceVersion": "1003"}, "the last, answered with the old version"},
		{"GET /a", "", "", http.StatusNotFound, nil, "gone"},
		{"POST ", asJSON, `{"metadata":{"name":"b"}}`, made, nil, "another"},
		{"DELETE /b", asJSON, `{"propagationPolicy":"Foreground"}`, ok, map[string]string{"metadata.finalizers": `["foregroundDeletion"]`}, "what it owns goes first"},
	})
	newCluster(t).run("/apis/batch/v1/namespaces/n/jobs", []step{
		{"POST ", asJSON, `{"metadata":{"name":"a"},"spec":{"manualSelector":true}}`, made, nil, "a Job"},
		{"DELETE /a", "", "", ok, map[string]string{"metadata.finalizers": `["orphan"]`}, "it leaves its Pods unless told otherwise"},
	})
	newCluster(t).run("/apis/events.k8s.io/v1/namespaces/n/events", []step{
		{"POST ", asJSON, newEvent(""), made, nil, "an Event"},
		{"DELETE /e", asJSON, `{"propagationPolicy":"Foreground"}`, ok, map[string]string{"kind": "Status"}, "it owns nothing"},
	})
}

func newEvent(more string) string {
	return `{"metadata":{"name":"e"},"eventTime":"2026-01-01T00:00:00.000000Z","reason":"r","type":"Normal","action":"a",
		"reportingController":"c","reportingInstance":"i","regarding":{"namespace":"n"}` + more + `}`
}

func TestEvents(t *testing.T) {
	t.Parallel()
	newCluster(t).run("/apis/events.k8s.io/v1/namespaces/n/events", []step{
		{"POST ", asJSON, newEvent(`,"action":""`), invalid, map[string]string{"details.causes.0.field": "action", "message": `Event "e" is invalid: action: Required value`}, "an action"},
		{"POST ", asJSON, strings.Replace(newEvent(""), `{"namespace":"n"}`, `{}`, 1), invalid, map[string]string{"details.causes.0.field": "involvedObject.namespace"}, "cluster-scoped objects have theirs in default"},
		{"POST ", asJSON, newEvent(`,"type":"Loud"`), invalid, map[string]string{"details.causes.0.field": "type"}, "a type"},
		{"POST ", asJSON, newEvent(`,"reportingController":"a/b/c"`), invalid, map[string]string{"details.causes.0.field": "reportingController"}, "a qualified name"},
		{"POST ", asJSON, newEvent(`,"eventTime":null`), invalid, map[string]string{"details.causes.0.field": "eventTime", "details.causes.1": ""}, "a time"},
		{"POST ", asJSON, newEvent(`,"series":{"count":1,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}`), invalid, nil, "one is no series"},
		{"POST ", asJSON, newEvent(``), made, nil, "good"},
		{"PATCH /e", asMerge, `{"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}`, ok, map[string]string{"series.count": "2"}, "a series"},
		{"PATCH /e", asMerge, `{"note":"other"}`, invalid, map[string]string{"details.causes.0.field": "message"}, "what was said stays"},
		{"PATCH /e", asMerge, `{"eventTime":"2026-01-01T00:00:01.000000Z"}`, invalid, nil, "and when"},
		{"PUT /f", asJSON, `{"metadata":{"name":"f"},"eventTime":"2026-01-01T00:00:00.000000Z","reason":"r","type":"Normal","action":"a",
			"reportingController":"c","reportingInstance":"i","regarding":{"namespace":"n"}}`, made, nil, "updates may create them"},
	})
}

func TestPods(t *testing.T) {
	t.Parallel()
	newCluster(t).run(pods, []step{
		{
			"POST ", asJSON, `{"metadata":{"name":"a"},"spec":{"nodeName":"x","containers":[{"name":"c","image":"i:1"}]}}`, made,
			map[string]string{"status.phase": "Pending", "status.qosClass": "BestEffort", "metadata.generation": "1"},
			"on a node",
		},
		{"PATCH /a", asMerge, `{"spec":{"nodeName":"y"}}`, invalid, map[string]string{"details.causes.0.field": "spec", "details.causes.0.reason": "FieldValueForbidden"}, "it does not move"},
		{"PATCH /a", asMerge, `{"spec":{"containers":[]}}`, invalid, map[string]string{"details.causes.0.field": "spec.containers"}, "nor lose containers"},
		{"PATCH /a", asMerge, `{"spec":{"containers":[{"name":"c","image":"i:2"}]}}`, ok, map[string]string{"metadata.generation": "2"}, "images may change"},
		{"PATCH /a", asMerge, `{"spec":{"activeDeadlineSeconds":5}}`, ok, nil, "a deadline may be set"},
		{"PATCH /a", asMerge, `{"spec":{"activeDeadlineSeconds":null}}`, invalid, nil, "and not taken back"},
		{
			"PATCH /a/status", asMerge, `{"status":{"phase":"Running"},"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"X","name":"o","uid":"u"}]}}`, ok,
			map[string]string{"status.phase": "Running", "status.qosClass": "BestEffort", "metadata.ownerReferences": ""},
			"a status owns nothing",
		},
		{"DELETE /a", "", "", ok, map[string]string{
			"kind": "Pod", "metadata.deletionGracePeriodSeconds": "30", "metadata.deletionTimestamp": "2026-01-02T03:04:35Z", "metadata.generation": "4",
		}, "it has half a minute"},
		{"GET /a", "", "", ok, nil, "still there"},
		{"DELETE /a", asJSON, `{"gracePeriodSeconds":0}`, ok, nil, "the node is done"},
		{"GET /a", "", "", http.StatusNotFound, nil, "gone"},
		{
			"POST ", asJSON, `{"metadata":{"name":"b"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}`, made,
			map[string]string{"status.qosClass": "Burstable"},
			"waiting for a node",
		},
		{"DELETE /b", "", "", ok, nil, "nothing runs yet"},
		{"GET /b", "", "", http.StatusNotFound, nil, "gone at once"},
		{"POST ", asJSON, `{"metadata":{"name":"d"},"spec":{"nodeName":"x","terminationGracePeriodSeconds":5,
			"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1"}}}]}}`, made, map[string]string{"status.qosClass": "Guaranteed"}, "limits"},
		{"DELETE /d", "", "", ok, map[string]string{"metadata.deletionGracePeriodSeconds": "5"}, "as long as it asked for"},
	})
}

func TestNamespaces(t *testing.T) {
	t.Parallel()
	newCluster(t).run("/api/v1/namespaces", []step{
		{"POST ", asJSON, `{"metadata":{"name":"n"}}`, made, map[string]string{
			"status.phase": "Active", "spec.finalizers": `["kubernetes"]`, "metadata.labels.kubernetes~io/metadata~name": "n",
		}, "new"},
		{"PATCH /n", asMerge, `{"spec":{"finalizers":[]}}`, ok, map[string]string{"spec.finalizers": `["kubernetes"]`}, "they are not written here"},
		{"DELETE /n", asJSON, `{"preconditions":{"uid":"` + wrongUID + `"}}`, http.StatusConflict, nil, "a wrong uid"},
		{"DELETE /n", asJSON, `{"preconditions":{"resourceVersion":"1"}}`, http.StatusConflict, nil, "stale"},
		{"DELETE /n", asJSON, `{"propagationPolicy":"Foreground"}`, ok, map[string]string{
			"kind": "Namespace", "status.phase": "Terminating", "metadata.deletionTimestamp": "2026-01-02T03:04:05Z", "metadata.finalizers": `["foregroundDeletion"]`,
		}, "it begins to go"},
		{"DELETE /n", "", "", ok, map[string]string{"status.phase": "Terminating"}, "once more, to no effect"},
		{"GET /n", "", "", ok, nil, "still there: nobody empties it"},
		{"DELETE /m", "", "", http.StatusNotFound, nil, "nothing there"},
		{"POST ", asJSON, `{"metadata":{"name":"dots.are.wrong"}}`, invalid, map[string]string{"details.causes.0.field": "metadata.name"}, "a label of DNS"},
	})
}

func TestSecretsAndConfigMaps(t *testing.T) {
	t.Parallel()
	newCluster(t).run("/api/v1/namespaces/n/secrets", []step{
		{"POST ?fieldManager=c", asJSON, `{"metadata":{"name":"a"},"type":"t","data":{"k":"dg=="},"stringData":{"l":"w"}}`, made, map[string]string{
			"data": `{"k":"dg==","l":"dw=="}`, "stringData": "", "metadata.managedFields.0.fieldsV1.f:data": `{".":{},"f:k":{},"f:l":{}}`,
		}, "texts become data"},
		{"PATCH /a", asMerge, `{"stringData":{"k":"x"}}`, ok, map[string]string{"data.k": "eA==", "stringData": ""}, "in patches too"},
		{
			"PATCH /a?fieldManager=f", asApply, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"m":"x"}}`, ok,
			map[string]string{"data.m": "eA==", "stringData": ""},
			"and where they are applied",
		},
		{"PATCH /a", asMerge, `{"type":null}`, ok, map[string]string{"type": "t"}, "the type stays"},
		{"PATCH /a", asMerge, `{"type":"u"}`, invalid, map[string]string{"details.causes.0.field": "type"}, "whatever is written"},
		{"PATCH /a", asMerge, `{"data":{"bad key":"dg=="}}`, invalid, map[string]string{"details.causes.0.field": "data[bad key]"}, "a key"},
		{"PATCH /a", asMerge, `{"data":{"k":"%"}}`, invalid, nil, "no base64"},
		{"PATCH /a", asMerge, `{"immutable":true}`, ok, nil, "from here on"},
		{"PATCH /a", asMerge, `{"stringData":{"k":"y"}}`, invalid, map[string]string{"details.causes.0.field": "data"}, "nothing changes"},
	})
	newCluster(t).run(configMaps, []step{
		{"POST ", asJSON, `{"metadata":{"name":"a"},"data":{"k":"v"},"binaryData":{"k":"dg=="}}`, invalid, map[string]string{"details.causes.0.field": "data[k]"}, "one key twice"},
		{"POST ", asJSON, `{"metadata":{"name":"a"},"data":{"k":"v"},"immutable":true}`, made, nil, "immutable"},
		{"PATCH /a", asMerge, `{"data":{"k":"w"}}`, invalid, map[string]string{
			"message": "ConfigMap \"a\" is invalid: data: Forbidden: field is immutable when `immutable` is set",
		}, "its data stays"},
		{"PATCH /a", asMerge, `{"immutable":null}`, invalid, map[string]string{"details.causes.0.field": "immutable"}, "and that it does"},
		{"PATCH /a", asMerge, `{"metadata":{"labels":{"a":"b"}}}`, ok, nil, "its metadata does not"},
	})
}

func TestJobs(t *testing.T) {
	t.Parallel()
	newCluster(t).run("/apis/batch/v1/namespaces/n/jobs", []step{
		{"POST ", asJSON, `{"metadata":{"name":"a"}}`, made, map[string]string{
			"spec.template.metadata.labels.job-name": "a", "spec.template.metadata.labels.batch~kubernetes~io/job-name": "a",
		}, "it knows its Pods by labels"},
		{"PATCH /a", asMerge, `{"spec":{"template":{"spec":{"hostname":"x"}}}}`, invalid, map[string]string{"details.causes.0.field": "spec.template"}, "Pods stay as they are"},
		{"POST ", asJSON, `{"metadata":{"name":"b"},"spec":{"suspend":true}}`, made, nil, "not begun"},
		{"PATCH /b", asMerge, `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`, ok, nil, "there are no Pods yet"},
		{"POST ", asJSON, `{"metadata":{"name":"c"},"spec":{"manualSelector":true}}`, made, map[string]string{"spec.selector": ""}, "its selector is somebody else's"},
	})
}

func TestOddities(t *testing.T) {
	t.Parallel()
	tests := []struct {
		base, reason string
		steps        []step
	}{
		{"/apis/apps/v1/namespaces/n/daemonsets", "templates of DaemonSets are counted", []step{
			{"POST ", asJSON, `{"metadata":{"name":"a"}}`, made, map[string]string{"metadata.annotations.deprecated~daemonset~template~generation": "1"}, "new"},
			{"PATCH /a", asMerge, `{"spec":{"minReadySeconds":1}}`, ok, map[string]string{
				"metadata.annotations.deprecated~daemonset~template~generation": "1", "metadata.generation": "2",
			}, "not of the template"},
			{"PATCH /a", asMerge, `{"spec":{"template":{"spec":{"hostname":"x"}}}}`, ok, map[string]string{
				"metadata.annotations.deprecated~daemonset~template~generation": "2", "metadata.generation": "3",
			}, "of the template"},
		}},
		{"/api/v1/nodes", "all of a Node may be used", []step{
			{"POST ", asJSON, `{"metadata":{"name":"a"},"status":{"capacity":{"cpu":"1"}}}`, made, map[string]string{"status.allocatable.cpu": "1"}, "as it registers"},
		}},
		{"/api/v1/namespaces/n/serviceaccounts", "secrets are named only", []step{
			{"POST ", asJSON, `{"metadata":{"name":"a"},"secrets":[{"name":"s","namespace":"x"}]}`, made, map[string]string{"secrets.0": `{"name":"s"}`}, "new"},
			{"PATCH /a", asMerge, `{"secrets":[{"name":"t","kind":"x"}]}`, ok, map[string]string{"secrets.0": `{"name":"t"}`}, "changed"},
		}},
		{"/apis/batch/v1/namespaces/n/cronjobs", "Jobs need room in a name", []step{
			{"POST ", asJSON, `{"metadata":{"name":"a123456789a123456789a123456789a123456789a123456789abc"}}`, invalid, map[string]string{"details.causes.0.field": "metadata.name"}, "53 letters"},
		}},
		{"/apis/storage.k8s.io/v1/csidrivers", "drivers are counted from a change on", []step{
			{"POST ", asJSON, `{"metadata":{"name":"a"}}`, made, map[string]string{"metadata.generation": ""}, "new"},
			{"PATCH /a", asMerge, `{"spec":{"podInfoOnMount":true}}`, ok, map[string]string{"metadata.generation": "1"}, "changed"},
		}},
		{"/apis/scheduling.k8s.io/v1/priorityclasses", "a priority stays", []step{
			{"POST ", asJSON, `{"metadata":{"name":"a"},"value":1}`, made, map[string]string{"metadata.generation": "1"}, "new"},
			{"PATCH /a", asMerge, `{"value":2}`, invalid, map[string]string{"details.causes.0.field": "value"}, "another value"},
			{"PATCH /a", asMerge, `{"description":"d"}`, ok, map[string]string{"metadata.generation": "1"}, "never counted"},
		}},
		{"/apis/certificates.k8s.io/v1/certificatesigningrequests", "a request is made once", []step{
			{"POST ", asJSON, `{"metadata":{"name":"a:b"},"spec":{"signerName":"s"}}`, made, nil, "new"},
			{"PATCH /a:b", asMerge, `{"spec":{"signerName":"t"}}`, ok, map[string]string{"spec.signerName": "s"}, "it stays"},
		}},
		{"/api/v1/namespaces/n/persistentvolumeclaims", "claims are pending", []step{
			{"POST ", asJSON, `{"metadata":{"name":"a"}}`, made, map[string]string{"status.phase": "Pending"}, "new"},
		}},
		{configMaps, "names are made of what is in the world", []step{
			{"POST ", asJSON, `{"metadata":{"generateName":"g-"}}`, made, nil, "one"},
			{"POST ", asJSON, `{"metadata":{"generateName":"g-"}}`, made, nil, "another, of another name"},
		}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			newCluster(t).run(test.base, test.steps)
		})
	}
}
