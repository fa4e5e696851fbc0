package projection_test

import (
	"fmt"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// tidbCluster is an object of 3 KB as the API server sends it.
func tidbCluster(i int) string {
	return fmt.Sprintf(`{"apiVersion":"pingcap.com/v1alpha1","kind":"TidbCluster","metadata":{"annotations":{"pingcap.com/delete-slots":"[]",`+
		`"example.org/owner":"team-storage"},"creationTimestamp":"2026-11-01T08:%02d:%02dZ","generation":%d,"labels":{`+
		`"app.kubernetes.io/managed-by":"tidb-operator","app.kubernetes.io/name":"tidb-cluster","env":"prod","team":"storage"},"managedFields":[`+
		`{"apiVersion":"pingcap.com/v1alpha1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:example.org/owner":{}},`+
		`"f:labels":{".":{},"f:env":{},"f:team":{}}},"f:spec":{".":{},"f:pd":{".":{},"f:baseImage":{},"f:replicas":{},"f:requests":{".":{},"f:storage":{}}},`+
		`"f:tidb":{".":{},"f:baseImage":{},"f:replicas":{},"f:service":{".":{},"f:type":{}}},"f:tikv":{".":{},"f:baseImage":{},"f:replicas":{},"f:requests":`+
		`{".":{},"f:storage":{}}},"f:version":{}}},"manager":"kubectl-client-side-apply","operation":"Update","time":"2026-11-01T08:00:00Z"},`+
		`{"apiVersion":"pingcap.com/v1alpha1","fieldsType":"FieldsV1","fieldsV1":{"f:status":{".":{},"f:clusterID":{},"f:conditions":{},"f:pd":{".":{},`+
		`"f:leader":{},"f:members":{},"f:phase":{}},"f:tidb":{},"f:tikv":{}}},"manager":"tidb-controller-manager","operation":"Update",`+
		`"time":"2026-11-01T09:00:00Z"}],"name":"cluster-%05d","namespace":"tidb-%d","resourceVersion":"%d","uid":"8f14e45f-ceea-467f-a%03d-%012d"},`+
		`"spec":{"configUpdateStrategy":"RollingUpdate","enablePVReclaim":false,"imagePullPolicy":"IfNotPresent","pd":{"baseImage":"pingcap/pd",`+
		`"config":"[log]\nlevel = \"info\"\n[replication]\nmax-replicas = 3\n","maxFailoverCount":0,"replicas":%d,"requests":{"cpu":"1","memory":"2Gi","storage":"10Gi"},`+
		`"storageClassName":"fast"},"pvReclaimPolicy":"Retain","schedulerName":"default-scheduler","tidb":{"baseImage":"pingcap/tidb","config":"[log]\nlevel = \"warn\"\n",`+
		`"maxFailoverCount":0,"replicas":2,"service":{"externalTrafficPolicy":"Local","type":"ClusterIP"},"slowLogTailer":{"limits":{"cpu":"100m","memory":"50Mi"}}},`+
		`"tikv":{"baseImage":"pingcap/tikv","config":"[storage]\nreserve-space = \"0MB\"\n","maxFailoverCount":0,"replicas":3,"requests":{"cpu":"2","memory":"8Gi",`+
		`"storage":"100Gi"},"storageClassName":"fast"},"timezone":"UTC","version":"v7.5.0"},"status":{"clusterID":"70%017d","conditions":[{"lastTransitionTime":`+
		`"2026-11-01T08:10:00Z","lastUpdateTime":"2026-11-01T08:10:00Z","message":"TiDB cluster is fully up and running","reason":"Ready","status":"True","type":"Ready"}],`+
		`"pd":{"leader":{"clientURL":"http://pd-0.pd-peer:2379","health":true,"id":"1374","name":"pd-0"},"members":{"pd-0":{"health":true,"id":"1374"},"pd-1":{"health":true,"id":"1375"},`+
		`"pd-2":{"health":true,"id":"1376"}},"phase":"Normal","statefulSet":{"currentReplicas":3,"readyReplicas":3,"replicas":3,"updatedReplicas":3}},`+
		`"tidb":{"phase":"Normal","members":{"tidb-0":{"health":true,"name":"tidb-0"}}},"tikv":{"phase":"Normal","stores":{"1":{"id":"1","leaderCount":12,"state":"Up"},`+
		`"4":{"id":"4","leaderCount":9,"state":"Up"},"5":{"id":"5","leaderCount":11,"state":"Up"}}}}}`,
		i/60%60, i%60, i%7, i, i%50, 1000+i, i%1000, i, 3+i%3, i)
}

// threeFields are those of a rule that reads three.
func threeFields() *projection.Fields {
	return fields(value("metadata.labels.env"), value("spec.pd.replicas"), value("status.pd.phase"))
}

// BenchmarkDecode is the decoding of an object alone.
func BenchmarkDecode(b *testing.B) {
	documents := make([][]byte, 1000)
	for i := range documents {
		documents[i] = []byte(tidbCluster(i))
	}
	run := func(name string, decode func([]byte) (map[string]any, error)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := decode(documents[i%len(documents)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("fields", threeFields().Decode)
	run("all of spec", fields(value("spec")).Decode)
	run("whole", (*projection.Fields)(nil).Decode)
	run("normal", func(data []byte) (object map[string]any, err error) { return object, utiljson.Unmarshal(data, &object) })
}
