package render_test

import (
	"fmt"
	"time"

	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/noderoll"
)

func ExamplePanel() {
	frame := render.Frame{
		Title: "demo", Nodegroup: "spot-burst", FromImage: "ami-old", ToImage: "ami-new",
		Snapshot: noderoll.DemoTimeline()[3], Desired: 3,
		Recent: []noderoll.Entry{
			{At: 5 * time.Second, Kind: noderoll.EvtJoining, Node: "ip-10-0-1-44"},
			{At: 10 * time.Second, Kind: noderoll.EvtOnline, Node: "ip-10-0-1-44"},
			{At: 10 * time.Second, Kind: noderoll.EvtDraining, Node: "ip-10-0-1-12"},
		},
		Position: 15 * time.Second, Duration: 65 * time.Second, Speed: "20x",
	}
	fmt.Println(render.Panel(frame, render.Options{Width: 64, Height: 20, ASCII: true}))
	// Output:
	// demo  rolling spot-burst
	//  ami-old -> ami-new
	//  .................................   0/3 replaced   1 new ready
	//
	//  NODES 4   - 1 draining   * 1 new   * 2 old
	//  - ip-10-0-1-12  old  draining            ====....  2/4 pods
	//  * ip-10-0-1-44  new  ready
	//  * ip-10-0-2-08  old  ready
	//  * ip-10-0-3-21  old  ready
	//
	//  EVENTS
	//  T+5.000s     + joining     ip-10-0-1-44
	//  T+10.000s    * online      ip-10-0-1-44
	//  T+10.000s    - draining    ip-10-0-1-12
	//
	//  > 20x  0:15 =========............................... 1:05
}
