// Package apiserver is a kube-apiserver without a network and without a store of its own:
// a [Server] has the API server's own handlers of custom resources and of the built-in
// kinds, and answers each request for the world that its transport belongs to.
//
//	request -> Transport -> the handler of custom resources -> registry.Store -> storage
//	                             \-> kinds: handlers -> strategy of a row ---^
//
// A definition is read when its resource is first asked for. A Server is not for ever: it
// leaves nothing behind that is not collected with it.
//
// The built-in kinds have the API server's own request handlers, registries and field managers
// over the types of k8s.io/api. What differs between kinds is a row of a table, and a few functions
// where that does not suffice. Types of a served version stand for the internal ones of a real
// server, so nothing is converted between versions.
//
// # Differences
//
// Known differences from kube-apiserver 1.37:
//
//   - A [Server] accepts definitions that a real one would refuse for less than that it
//     cannot serve them. [Refused] tells what a real one says of them, but for those that
//     would take too long to check.
//   - Conversion webhooks are not asked: all versions of a resource have the same fields.
//     Nor are any other webhooks, or policies.
//   - Discovery is always the aggregated one, and OpenAPI describes custom resources alone. A world is watched if it remembers its
//     changes. Lists have no pages. Whoever asks may do everything.
//   - Namespaces need not exist.
//   - Generated names are random; the engine generates its own.
//   - A Pod whose grace is shortened, but not to zero, gets the shortest grace there is.
//
// And of the built-in kinds:
//
//   - Defaulting: none, but for the name label of Namespaces, status.allocatable of Nodes,
//     and stringData of Secrets. Objects are expected as stored.
//   - Validation: of metadata, names, immutable fields of the table, keys of ConfigMaps and
//     Secrets, Events, and what of a Pod may change. Nothing else is required or refused,
//     such as containers, selectors that match templates, or ranges of numbers.
//     Finalizers without a domain are refused for all kinds, where a few, such as Leases
//     and PodDisruptionBudgets, let them pass. status.loadBalancer is for any Service.
//   - Allocation: Services get no clusterIP, no ports of nodes.
//   - Admission: that of namespaces that are going. So there are no finalizers that protect
//     volumes, no tokens in Pods, no priority.
//   - Versions: of a kind in several versions one is served, the newest that is stable;
//     autoscaling/v1 and older versions of resource.k8s.io are not. Kinds that only have
//     alpha and beta versions are served, which a real server has switched off.
//   - Events of v1 and of events.k8s.io/v1 are stored apart.
//   - Not served: Binding, ComponentStatus, the reviews of authentication, APIService, CustomResourceDefinition; of subresources those other than
//     status and scale. Namespaces so stay terminating, unless their spec.finalizers are
//     stored empty. An answer says so if a real server serves what is asked for.
//   - PersistentVolumes have no status.lastPhaseTransitionTime.
//   - Wording: values of immutable fields are shown as in JSON where a real server shows
//     its internal types; a Pod's refused change comes without the difference; an unknown
//     type of patch is worded by the handler, not by the router.
//   - Field selectors know what those of Pods, Nodes, Namespaces, Services, Secrets and
//     ReplicationControllers name, and of other kinds metadata.name and metadata.namespace
//     only.
package apiserver
