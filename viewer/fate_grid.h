// What became of sampled instructions, by code (ProfileMe).
#ifndef MEMAGENT_VIEWER_FATE_GRID_H_
#define MEMAGENT_VIEWER_FATE_GRID_H_

#include "viewer/grid.h"
#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

// One row for each line, most samples first. Without rows where the engine tells no fates.
Grid FateGrid(const View& view, const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_FATE_GRID_H_
