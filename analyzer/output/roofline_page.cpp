#include "analyzer/output/roofline_page.h"

#include "analyzer/base/json/json_text.h"
#include "analyzer/base/saturated.h"
#include "analyzer/table/html_text.h"
#include "analyzer/table/table.h"
#include "analyzer/table/table_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr double kWidth = 980, kHeight = 560, kLeft = 70, kRight = 20, kTop = 20, kBottom = 50;

// One logarithmic axis between two powers of ten.
struct Axis {
  int first = 0, last = 1;  // exponents
  double from = 0, to = 1;  // coordinates on the page
  double at(double value) const {
    const double share = (std::log10(value) - first) / (last - first);
    return from + std::clamp(share, 0.0, 1.0) * (to - from);
  }
};

struct Spread {
  double least = HUGE_VAL, most = 0;
  void add(double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  Axis axis(double from, double to) const {
    Axis axis{0, 1, from, to};
    if (most > 0) axis.first = static_cast<int>(std::floor(std::log10(least)));
    if (most > 0) axis.last = static_cast<int>(std::ceil(std::log10(most)));
    if (axis.last <= axis.first) axis.last = axis.first + 1;
    return axis;
  }
};

std::string_view color_of(RoofBound bound) {
  switch (bound) {
    case RoofBound::Compute: return "#c0392b";
    case RoofBound::Memory: return "#2471a3";
    case RoofBound::Launch: return "#7d6608";
    case RoofBound::Unknown: break;
  }
  return "#777777";
}

std::string number(double value) { return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value); }

bool is_drawn(const RoofPoint& point) {
  const std::optional<double> intensity = point.sums.intensity(), rate = point.sums.tera_flops();
  return intensity && rate && *intensity > 0 && *rate > 0;
}

void draw_grid(const Axis& x, const Axis& y, std::string& svg) {
  for (int e = x.first; e <= x.last; ++e) {
    const double at = x.at(std::pow(10, e));
    svg += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>", at, y.from,
                       y.to);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n", at, y.from + 18,
                       std::pow(10, e));
  }
  for (int e = y.first; e <= y.last; ++e) {
    const double at = y.at(std::pow(10, e));
    svg += fmt::format("<line class=\"grid\" x1=\"{1:.1f}\" y1=\"{0:.1f}\" x2=\"{2:.1f}\" y2=\"{0:.1f}\"/>", at, x.from,
                       x.to);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n", x.from - 8, at + 4,
                       std::pow(10, e));
  }
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">FLOP per byte</text>\n",
                     (x.from + x.to) / 2, y.from + 40);
  svg += fmt::format(
      "<text x=\"16\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {0:.1f})\">TFLOP/s</text>\n",
      (y.from + y.to) / 2);
}

// Draws the slope of the memory bandwidth up to the highest roof, and a roof for each type in use.
void draw_roofs(const DevicePeaks& device, const std::vector<PeakType>& types, const Axis& x, const Axis& y,
                std::string& svg) {
  const double slope = device.bandwidth_gbs * 1e-3;  // TFLOP/s at one FLOP per byte
  double highest = 0;
  for (const PeakType type : types) highest = std::max(highest, peak_flops(device, type) * 1e-12);
  const double first = std::pow(10, x.first), last = std::pow(10, x.last);
  if (slope > 0) {
    const double lowest = std::max(first, std::pow(10, y.first) / slope);
    const double end = std::min(last, (highest > 0 ? highest : std::pow(10, y.last)) / slope);
    if (end > lowest)
      svg += fmt::format(
          "<line class=\"roof\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\">{} GB/s</text>\n",
          x.at(lowest), y.at(lowest * slope), x.at(end), y.at(end * slope), x.at(lowest) + 6, y.at(lowest * slope) - 8,
          number(device.bandwidth_gbs));
  }
  for (const PeakType type : types) {
    const double roof = peak_flops(device, type) * 1e-12;
    if (roof <= 0) continue;
    const double begin = slope > 0 ? std::clamp(roof / slope, first, last) : first;
    svg += fmt::format(
        "<line class=\"roof\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\"/>"
        "<text x=\"{2:.1f}\" y=\"{3:.1f}\" text-anchor=\"end\">{4} {5} TFLOP/s</text>\n",
        x.at(begin), y.at(roof), x.to, y.at(roof) - 6, peak_type_name(type), number(roof));
  }
}

// The lines of a browser tooltip, as text of the page.
std::string tip(const RoofPoint& point) {
  const PeakSums& sums = point.sums;
  std::string text = in_html(point.name);
  text += fmt::format("&#10;{} kernels, {}", sums.count, scaled_time(point.sums.total_ns));
  const auto add = [&](std::string_view what, std::optional<double> value, std::string_view unit) {
    if (value) text += fmt::format("&#10;{} {} {}", what, number(*value), unit);
  };
  add("attained", sums.tera_flops(), "TFLOP/s");
  add("attainable", point.attainable_tera, "TFLOP/s");
  add("moved", sums.giga_bytes(), "GB/s");
  add("intensity", sums.intensity(), "FLOP/byte");
  if (point.bound != RoofBound::Unknown) text += fmt::format("&#10;bound by {}", roof_bound_name(point.bound));
  if (point.lost_ns) text += fmt::format("&#10;lost {}", scaled_time(*point.lost_ns));
  if (sums.unknown_ns() != 0) text += fmt::format("&#10;without an ideal time {}", scaled_time(sums.unknown_ns()));
  if (const std::string from = sums.source_text(); !from.empty()) text += "&#10;from " + from;
  if (!point.note.empty()) text += "&#10;" + in_html(point.note);
  return text;
}

std::string svg_of(const DevicePeaks& device, const std::vector<const RoofPoint*>& points) {
  Spread intensities, rates;
  uint32_t used = 0;
  int64_t longest_ns = 1;
  for (const RoofPoint* point : points) {
    intensities.add(*point->sums.intensity());
    rates.add(*point->sums.tera_flops());
    used |= point->sums.peaks;
    longest_ns = std::max(longest_ns, point->sums.total_ns);
  }
  std::vector<PeakType> types;
  for (size_t type = 0; type < kPeakTypes; ++type) {
    const double roof = peak_flops(device, static_cast<PeakType>(type)) * 1e-12;
    if ((used >> type & 1) == 0 || roof <= 0) continue;
    types.push_back(static_cast<PeakType>(type));
    rates.add(roof);
    if (device.bandwidth_gbs > 0) intensities.add(roof / device.bandwidth_gbs * 1e3);
  }
  const Axis x = intensities.axis(kLeft, kWidth - kRight), y = rates.axis(kHeight - kBottom, kTop);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\"><style>.grid{{stroke:#8884;stroke-width:1}}"
      ".roof{{stroke:#333;stroke-width:2}}circle{{fill-opacity:.6;stroke:#fff;stroke-width:1}}</style>"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\" class=\"paper\"/>\n",
      kWidth, kHeight);
  draw_grid(x, y, svg);
  draw_roofs(device, types, x, y, svg);
  // Large dots are drawn first, so that the pointer can reach small ones.
  std::vector<const RoofPoint*> by_time = points;
  std::stable_sort(by_time.begin(), by_time.end(),
                   [](const RoofPoint* a, const RoofPoint* b) { return a->sums.total_ns > b->sums.total_ns; });
  for (const RoofPoint* point : by_time) {
    const double radius =
        std::max(3.0, 28 * std::sqrt(static_cast<double>(point->sums.total_ns) / static_cast<double>(longest_ns)));
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"><title>{}</title></circle>\n",
                       x.at(*point->sums.intensity()), y.at(*point->sums.tera_flops()), radius, color_of(point->bound),
                       tip(*point));
  }
  constexpr size_t kNamed = 5;
  constexpr double kLine = 13, kNear = 260;  // names move down until they do not cover each other
  std::vector<std::pair<double, double>> places;
  for (const RoofPoint* point : std::span(by_time).first(std::min(kNamed, by_time.size()))) {
    const double left = x.at(*point->sums.intensity()) + 6;
    double base = y.at(*point->sums.tera_flops()) - 6;
    const auto covers = [&](const std::pair<double, double>& other) {
      return std::abs(other.second - base) < kLine && std::abs(other.first - left) < kNear;
    };
    while (std::any_of(places.begin(), places.end(), covers)) base += 4;
    places.emplace_back(left, base);
    svg += fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left, base,
                       in_html(cut_text(readable_utf8(point->name), 40)));
  }
  return svg + "</svg>\n";
}

// Devices with points to draw, longest time first.
struct Picture {
  uint32_t device = 0;
  int64_t time_ns = 0;
  std::vector<const RoofPoint*> drawn, others;
};
std::vector<Picture> pictures_of(const Roofline& roofline) {
  std::vector<Picture> pictures(roofline.peaks.of_device.size());
  for (uint32_t d = 0; d < pictures.size(); ++d) pictures[d].device = d;
  for (const RoofPoint& point : roofline.points) {
    Picture& picture = pictures[point.device];
    picture.time_ns = add_saturated(picture.time_ns, point.sums.total_ns);
    (is_drawn(point) ? picture.drawn : picture.others).push_back(&point);
  }
  std::erase_if(pictures, [](const Picture& p) { return p.drawn.empty() && p.others.empty(); });
  std::stable_sort(pictures.begin(), pictures.end(),
                   [](const Picture& a, const Picture& b) { return a.time_ns > b.time_ns; });
  return pictures;
}

std::string rows_of(const std::vector<const RoofPoint*>& points) {
  constexpr size_t kMost = 40;
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th>Time</th><th>GB/s</th><th>of bandwidth</th>"
      "<th class=\"text\">Bound</th><th>Lost</th><th class=\"text\">From</th><th class=\"text\">Note</th>"
      "<th class=\"text\">Name</th></tr></thead><tbody>\n";
  for (size_t i = 0; i < std::min(points.size(), kMost); ++i) {
    const RoofPoint& point = *points[i];
    const std::optional<double> rate = point.sums.giga_bytes(), percent = point.sums.bytes_percent();
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"text\">{}</td><td>{}</td><td class=\"text\">{}</td>"
        "<td class=\"text\">{}</td><td class=\"text\">{}</td></tr>\n",
        scaled_time(point.sums.total_ns), rate ? number(*rate) : "", percent ? fmt::format("{:.1f} %", *percent) : "",
        roof_bound_name(point.bound), point.lost_ns ? scaled_time(*point.lost_ns) : "", point.sums.source_text(),
        in_html(point.note), in_html(point.name));
  }
  html += "</tbody></table></div>\n";
  if (points.size() > kMost) html += fmt::format("<p>first {} of {} rows</p>\n", kMost, points.size());
  return html;
}

}  // namespace

void write_roofline_picture(const Trace&, const Roofline& roofline, Sink& sink) {
  const std::vector<Picture> pictures = pictures_of(roofline);
  const DevicePeaks none;
  sink.write(pictures.empty() ? svg_of(none, {})
                              : svg_of(roofline.peaks.of_device[pictures[0].device], pictures[0].drawn));
}

void write_roofline_page(const Trace& trace, const Roofline& roofline, Sink& sink) {
  const std::vector<Picture> pictures = pictures_of(roofline);
  write_page_head("Roofline", sink);
  sink.write("<p>");
  for (const RoofBound bound : {RoofBound::Compute, RoofBound::Memory, RoofBound::Launch, RoofBound::Unknown}) {
    const std::string_view name = roof_bound_name(bound);
    sink.write(fmt::format("<span style=\"color:{};margin-right:16px\">&#9679; {}</span>", color_of(bound),
                           name.empty() ? "unknown" : name));
  }
  sink.write("a dot is a row of the report, its area its time; those with the most time have names</p>\n");
  for (const std::string& note : roofline.peaks.notes) sink.write(fmt::format("<p>{}</p>\n", in_html(note)));
  for (const Picture& picture : pictures) {
    const Device& device = trace.devices[picture.device];
    sink.write(fmt::format("<h2>pid {}, device {}: {}</h2>\n", trace.processes[index(device.process)].pid,
                           device.ordinal, in_html(device.name)));
    sink.write(svg_of(roofline.peaks.of_device[picture.device], picture.drawn));
    if (picture.others.empty()) continue;
    sink.write("<h3>Rows without FLOPs or without bytes</h3>\n");
    sink.write(rows_of(picture.others));
  }
  write_page_end(sink);
}

}  // namespace prof::analyzer
