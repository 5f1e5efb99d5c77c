// Bounds of the normal and of Student's distribution, for any level and any degrees of freedom.
#ifndef MEMAGENT_VIEWER_QUANTILES_H_
#define MEMAGENT_VIEWER_QUANTILES_H_

namespace memagent::viewer {

inline constexpr double kZ95 = 1.959963984540054;  // NormalBound(0.025)

// What a standard normal value exceeds with probability `tail`, 0 < tail < 0.5.
double NormalBound(double tail);

// The same for Student's t. `degrees` need not be whole (Welch); under 1 counts as 1.
double StudentBound(double tail, double degrees);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_QUANTILES_H_
