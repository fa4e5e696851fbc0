package controlplane_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

func ExampleStart() {
	ctx := context.Background()
	cluster, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = cluster.Stop() }()

	namespace, err := cluster.CreateNamespace(ctx, "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.HasPrefix(namespace, "example-"))

	requests, err := cluster.Requests(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(requests.Count(controlplane.Request{Verb: "POST", Resource: "namespaces", Code: "201"}) > 0)
	// Output:
	// true
	// true
}
