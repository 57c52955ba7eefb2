#include <array>

#include "traces/sass/instruction_table.h"

namespace tilesim::traces {
namespace {

// Names that nvdisasm 12.4 prints for sm_90, by number; empty for what it has no name for.
constexpr auto kNames = [] {
  std::array<std::string_view, 256> names{};
  names[0] = "SR_LANEID";
  names[1] = "SR_CLOCK";
  names[2] = "SR_VIRTCFG";
  names[3] = "SR_VIRTID";
  names[15] = "SR_ORDERING_TICKET";
  names[16] = "SR_PRIM_TYPE";
  names[17] = "SR_INVOCATION_ID";
  names[18] = "SR_Y_DIRECTION";
  names[19] = "SR_THREAD_KILL";
  names[20] = "SM_SHADER_TYPE";
  names[21] = "SR_DIRECTCBEWRITEADDRESSLOW";
  names[22] = "SR_DIRECTCBEWRITEADDRESSHIGH";
  names[23] = "SR_DIRECTCBEWRITEENABLED";
  names[24] = "SR_SW_SCRATCH";
  names[25] = "SR_MACHINE_ID_1";
  names[26] = "SR_MACHINE_ID_2";
  names[27] = "SR_MACHINE_ID_3";
  names[28] = "SR_AFFINITY";
  names[29] = "SR_INVOCATION_INFO";
  names[30] = "SR_WSCALEFACTOR_XY";
  names[31] = "SR_WSCALEFACTOR_Z";
  names[32] = "SR_TID";
  names[33] = "SR_TID.X";
  names[34] = "SR_TID.Y";
  names[35] = "SR_TID.Z";
  names[37] = "SR_CTAID.X";
  names[38] = "SR_CTAID.Y";
  names[39] = "SR_CTAID.Z";
  names[40] = "SR_NTID";
  names[41] = "SR_CirQueueIncrMinusOne";
  names[42] = "SR_NLATC";
  names[44] = "SR_SM_SPA_VERSION";
  names[45] = "SR_MULTIPASSSHADERINFO";
  names[46] = "SR_LWINHI";
  names[47] = "SR_SWINHI";
  names[48] = "SR_SWINLO";
  names[49] = "SR_SWINSZ";
  names[50] = "SR_SMEMSZ";
  names[51] = "SR_SMEMBANKS";
  names[52] = "SR_LWINLO";
  names[53] = "SR_LWINSZ";
  names[54] = "SR_LMEMLOSZ";
  names[55] = "SR_LMEMHIOFF";
  names[56] = "SR_EQMASK";
  names[57] = "SR_LTMASK";
  names[58] = "SR_LEMASK";
  names[59] = "SR_GTMASK";
  names[60] = "SR_GEMASK";
  names[61] = "SR_REGALLOC";
  names[62] = "SR_BARRIERALLOC";
  names[64] = "SR_GLOBALERRORSTATUS";
  names[65] = "SR_CGAERRORSTATUS";
  names[66] = "SR_WARPERRORSTATUS";
  names[67] = "SR_VIRTUALSMID";
  names[68] = "SR_VIRTUALENGINEID";
  names[80] = "SR_CLOCKLO";
  names[81] = "SR_CLOCKHI";
  names[82] = "SR_GLOBALTIMERLO";
  names[83] = "SR_GLOBALTIMERHI";
  names[84] = "SR_ESR_PC";
  names[85] = "SR_ESR_PC_HI";
  names[96] = "SR_HWTASKID";
  names[97] = "SR_CIRCULARQUEUEENTRYINDEX";
  names[98] = "SR_CIRCULARQUEUEENTRYADDRESSLOW";
  names[99] = "SR_CIRCULARQUEUEENTRYADDRESSHIGH";
  names[100] = "SR_PM0";
  names[101] = "SR_PM_HI0";
  names[102] = "SR_PM1";
  names[103] = "SR_PM_HI1";
  names[104] = "SR_PM2";
  names[105] = "SR_PM_HI2";
  names[106] = "SR_PM3";
  names[107] = "SR_PM_HI3";
  names[108] = "SR_PM4";
  names[109] = "SR_PM_HI4";
  names[110] = "SR_PM5";
  names[111] = "SR_PM_HI5";
  names[112] = "SR_PM6";
  names[113] = "SR_PM_HI6";
  names[114] = "SR_PM7";
  names[115] = "SR_PM_HI7";
  names[116] = "SR_SNAP_PM0";
  names[117] = "SR_SNAP_PM_HI0";
  names[118] = "SR_SNAP_PM1";
  names[119] = "SR_SNAP_PM_HI1";
  names[120] = "SR_SNAP_PM2";
  names[121] = "SR_SNAP_PM_HI2";
  names[122] = "SR_SNAP_PM3";
  names[123] = "SR_SNAP_PM_HI3";
  names[124] = "SR_SNAP_PM4";
  names[125] = "SR_SNAP_PM_HI4";
  names[126] = "SR_SNAP_PM5";
  names[127] = "SR_SNAP_PM_HI5";
  names[128] = "SR_SNAP_PM6";
  names[129] = "SR_SNAP_PM_HI6";
  names[130] = "SR_SNAP_PM7";
  names[131] = "SR_SNAP_PM_HI7";
  names[132] = "SR_VARIABLE_RATE";
  names[133] = "SR_TTU_TICKET_INFO";
  names[134] = "SR_WARPGROUP_INFO";
  names[135] = "SR_WARPGROUPID";
  names[136] = "SR_CgaCtaId";
  names[137] = "SR_GpcLocalCgaId";
  names[139] = "SR_CTARegPoolSz";
  names[255] = "SRZ";
  return names;
}();

// Numbers that have a name from sm_90 on only.
constexpr bool is_new(std::int64_t number) { return number == 65 || (number >= 134 && number <= 139); }

}  // namespace

std::string_view special_register_name(std::int64_t number, int architecture) {
  constexpr int kHopper = 90;
  if (number < 0 || number >= static_cast<std::int64_t>(kNames.size()) || (architecture < kHopper && is_new(number))) {
    return {};
  }
  return kNames[static_cast<std::size_t>(number)];
}

}  // namespace tilesim::traces
