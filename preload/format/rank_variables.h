// In which variables do launchers give a process its rank and the number of ranks? The first that is set counts.
#pragma once

#include <array>

namespace prof::format {

inline constexpr std::array kRankVariables = {"RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                              "PMI_RANK", "MV2_COMM_WORLD_RANK",  "SLURM_PROCID"};
inline constexpr std::array kSizeVariables = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_SIZE",
                                              "PMI_SIZE",   "MV2_COMM_WORLD_SIZE",  "SLURM_NTASKS"};

}  // namespace prof::format
