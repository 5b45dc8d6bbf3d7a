// For work that consists of items, such as the tiles of a product, with a workgroup for each item. If one
// dispatch would take too long, Launch::run_in_turns() records several. A dispatch computes the items from
// first_item on.
#define TURN uint first_item;
#define MY_ITEM (first_item + gl_WorkGroupID.x)
