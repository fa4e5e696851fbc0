package apiserver_test

import (
	"fmt"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

func BenchmarkNew(b *testing.B) {
	known := definitions(b, "../../../test/schemas/tidbclusters.yaml")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := apiserver.New(known); err != nil {
			b.Fatal(err)
		}
	}
}

// The first request about a resource reads its definition.
func BenchmarkFirst(b *testing.B) {
	known := definitions(b, "../../../test/schemas/tidbclusters.yaml")
	b.ReportAllocs()
	for b.Loop() {
		server, err := apiserver.New(known)
		if err != nil {
			b.Fatal(err)
		}
		inNew(server).send(b, call{do: "POST " + clusters, body: tidbCluster(1)})
	}
}

func BenchmarkRequests(b *testing.B) {
	for name, next := range map[string]func(int) call{
		"get": func(int) call { return call{do: "GET " + clusters + "/x"} },
		"merge": func(i int) call {
			return call{do: "PATCH " + clusters + "/x?fieldManager=m", as: merge, body: fmt.Sprintf(`{"spec":{"pd":{"replicas":%d}}}`, i)}
		},
		"merge of nothing": func(int) call { return call{do: "PATCH " + clusters + "/x?fieldManager=m", as: merge, body: `{}`} },
		"apply": func(i int) call {
			return call{do: "PATCH " + clusters + "/x?fieldManager=r&force=true", as: apply, body: tidbCluster(i)}
		},
		"apply of nothing": func(int) call {
			return call{do: "PATCH " + clusters + "/x?fieldManager=m&force=true", as: apply, body: tidbCluster(1)}
		},
	} {
		b.Run(name, func(b *testing.B) {
			c := inNew(tidb(b))
			c.send(b, call{do: "POST " + clusters + "?fieldManager=m", body: tidbCluster(1)})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if status, got := c.send(b, next(i)); status != 200 {
					b.Fatal(got)
				}
			}
		})
	}
}
