// Package fakeclient shows a replay to code that takes a clientset: a
// kubernetes.Interface, with its dynamic and metadata twins, over which
// informers, controllers and reads see a recorded roll as its API server told
// it, with the recorded resource versions, losing nothing.
//
// # Use
//
//	c, err := fakeclient.New(replay.File("roll.yaml"))
//	…
//	defer c.Close()
//	factory := informers.NewSharedInformerFactory(c, 0)
//	// … build the controller on the factory, as in production …
//	c.Track(factory.Core().V1().Nodes().Informer())
//	factory.Start(ctx.Done())
//	factory.WaitForCacheSync(ctx.Done())
//	for {
//		err := c.Step(ctx)
//		if errors.Is(err, io.EOF) {
//			break
//		}
//		… // any other error fails the test
//		// every informer has the event; assert, or write down what the
//		// controller says
//	}
//
// New is at the beginning of the tape, the initial lists applied.
// [Client.Step] goes in lock-step: one event, then it waits for the informers;
// [Client.Settle] says for what exactly, and what it can't know. [Client.Run]
// runs free, at the Player's pace: a slow consumer lags, and sees the same
// events later. In a testing/synctest bubble both work on fake time, and
// synctest.Wait waits for everything that a consumer does: start there if the
// controller has queues and goroutines of its own. Close the client inside of
// the bubble.
//
// [Client.Player] pauses, seeks and loops. Going back ends every watch with
// 410 Expired; informers list again, after the second or so that their
// back-off takes.
//
// # What goes wrong
//
// The option fault.Inject("unobserved"), of package replay/fault, makes watches
// break, events go missing and requests fail, at places of the tape.
//
// # Writes
//
// They are refused with 405, or recorded ([WithWrites]): accepted, logged for a
// golden file ([Client.WriteLog]), and without effect on what is read.
//
// # What it shares
//
// An event is decoded once and its object shared by all watches, as an
// informer shares its objects between handlers: don't change it. What Get and
// List return is the caller's own.
//
// # Where it lies
//
// It is built on client-go's fakes, and what isn't the replay's is theirs:
//
//   - A selector that doesn't parse panics in the typed clients (the twins
//     answer 400). Options of a cluster-wide typed list reach the replay whole.
//   - RESTClient is nil. Proxies and exec aren't there, logs are refused.
//   - Discovery knows the resources of the tape, with the verbs and the
//     subresources that clients look for; OpenAPI is empty; the server's version
//     is the tape's.
//   - A resource that isn't on the tape is 404, so its informer never syncs;
//     replay.Empty adds it.
//   - Reads aren't in Actions, and the embedded Fake forgets them after a
//     thousand. Reactors that a test prepends come first, as ever; they run with
//     the fake's lock held and must not call the client.
//   - Contexts of reads and timeoutSeconds of watches are ignored, as in any
//     client-go fake.
//   - Recorded writes are validated, and evictions checked against budgets, as
//     [Record] says, but nothing is defaulted and no manager owns fields. An
//     apply patch is merged, and finds no conflicts.
//   - There is no protobuf, Table or partial decoding: what a type doesn't know
//     is dropped, as with JSON from a server.
//
// # Order
//
// An informer learns of the first objects in the order of a list, by namespace
// and name, and then of the tape's events in the tape's order, the same every
// time ([WithWatchList] gives the first up). Between resources a free-running
// client sees no order, as on the wire; in lock-step it is the tape's. Of
// objects that were deleted before an informer could list again, after a
// rewind, it hears in random order: client-go looks them up in a map.
package fakeclient
