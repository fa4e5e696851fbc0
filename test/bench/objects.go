package main

import (
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// benchNamespace has all objects that the bench makes.
	benchNamespace = "bench"
	// createdLabel is on what was created one by one, and goes away after the run.
	createdLabel = "bench.example.com/created"
)

func tidbClusters() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}
}

func configMaps() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

func pods() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "pods"}
}

// newTidbCluster is like the basic example of tidb-operator, with the status that the operator gives it. TiKV stores and
// environment variables, which no rule reads and which Go types have, make it as large as it is to be, in bytes of JSON.
// The rules find something to do where there are three replicas of TiKV.
func newTidbCluster(name string, replicas, size int) (*unstructured.Unstructured, error) {
	stores, environment := map[string]any{}, []any{}
	tikv := map[string]any{
		"baseImage": "pingcap/tikv", "maxFailoverCount": int64(0), "replicas": int64(replicas),
		"requests": map[string]any{"storage": "1Gi"}, "evictLeaderTimeout": "1m",
	}
	spec := map[string]any{
		"version":              "v8.5.5",
		"timezone":             "UTC",
		"pvReclaimPolicy":      "Retain",
		"configUpdateStrategy": "RollingUpdate",
		"discovery":            map[string]any{},
		"helper":               map[string]any{"image": "alpine:3.16.0"},
		"pd": map[string]any{
			"baseImage": "pingcap/pd", "maxFailoverCount": int64(0), "replicas": int64(3),
			"requests": map[string]any{"storage": "1Gi"},
		},
		"tikv": tikv,
		"tidb": map[string]any{
			"baseImage": "pingcap/tidb", "maxFailoverCount": int64(0), "replicas": int64(2),
			"service": map[string]any{"type": "ClusterIP"},
		},
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "pingcap.com/v1alpha1",
		"kind":       "TidbCluster",
		"metadata": map[string]any{
			"namespace": benchNamespace, "name": name,
			"labels": map[string]any{"team": "payments"},
		},
		"spec":   spec,
		"status": map[string]any{"clusterID": "7312405981", "tikv": map[string]any{"phase": "Normal", "stores": stores}},
	}}
	have, err := jsonSize(object)
	if err != nil {
		return nil, err
	}
	for i := 0; have < size || i == 0; i++ {
		id := strconv.Itoa(i + 1)
		pod := podName(name, i)
		store := map[string]any{
			"id": id, "podName": pod, "ip": pod + ".tikv-peer.bench.svc", "leaderCount": int64(100 + i), "state": "Up",
			"lastTransitionTime": "2026-01-02T03:04:05Z",
		}
		variable := map[string]any{"name": "TIKV_OPTION_" + id, "value": "value-" + id}
		stores[id], environment = store, append(environment, variable)
		for _, part := range []any{store, variable} {
			n, err := jsonSize(part)
			if err != nil {
				return nil, err
			}
			have += n + len(`,`)
		}
		have += len(`"":`) + len(id)
	}
	tikv["env"] = environment
	return object, nil
}

// podName is the name of one of two Pods of a TidbCluster.
func podName(cluster string, i int) string { return fmt.Sprintf("%s-tikv-%d", cluster, i) }

// newPod is like a Pod that tidb-operator makes.
func newPod(cluster string, i int) *unstructured.Unstructured {
	name := podName(cluster, i)
	volumes := []any{
		map[string]any{"name": "tikv", "emptyDir": map[string]any{}},
		map[string]any{"name": "annotations", "downwardAPI": map[string]any{"items": []any{
			map[string]any{"path": "annotations", "fieldRef": map[string]any{"fieldPath": "metadata.annotations"}},
		}}},
		map[string]any{"name": "config", "configMap": map[string]any{"name": cluster + "-tikv"}},
	}
	mounts := []any{
		map[string]any{"name": "tikv", "mountPath": "/var/lib/tikv"},
		map[string]any{"name": "annotations", "mountPath": "/etc/podinfo", "readOnly": true},
		map[string]any{"name": "config", "mountPath": "/etc/tikv", "readOnly": true},
	}
	container := map[string]any{
		"name": "tikv", "image": "pingcap/tikv:v8.5.5", "command": []any{"/bin/sh", "/usr/local/bin/tikv_start_script.sh"},
		"ports":        []any{map[string]any{"name": "server", "containerPort": int64(20160)}},
		"env":          []any{map[string]any{"name": "HEADLESS_SERVICE_NAME", "value": cluster + "-tikv-peer"}},
		"resources":    map[string]any{"requests": map[string]any{"cpu": "1", "memory": "2Gi"}},
		"volumeMounts": mounts,
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"namespace": benchNamespace, "name": name,
			"labels": map[string]any{
				"app.kubernetes.io/instance": cluster, "app.kubernetes.io/component": "tikv", "app.kubernetes.io/managed-by": "tidb-operator",
			},
		},
		"spec": map[string]any{"containers": []any{container}, "volumes": volumes, "hostname": name, "subdomain": cluster + "-tikv-peer"},
	}}
}

func jsonSize(value any) (int, error) {
	if object, is := value.(*unstructured.Unstructured); is {
		value = object.Object
	}
	data, err := json.Marshal(value)
	return len(data), err
}
