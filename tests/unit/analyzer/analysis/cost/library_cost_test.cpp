// FLOPs and bytes of library calls, each computed by hand.
#include "analyzer/analysis/cost/library_cost.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(LibraryCost, AProductIsTwoFlopsForEachMultiplyAdd) {
  const auto found = library_cost(
      "cublasSgemm_v2(transa=N, transb=T, m=3, n=5, k=7, A=fp32, B=fp32, C=fp32, compute=32f, math=default, beta=0)");
  ASSERT_TRUE(found && found->cost.known);
  EXPECT_EQ(found->cost.flops, 210u);  // 2·3·5·7
  EXPECT_EQ(found->cost.useful_flops, 210u);
  EXPECT_EQ(found->cost.bytes, 284u);  // (21 + 35 + 15) · 4
  EXPECT_EQ(found->cost.type, DataType::Fp32);
  EXPECT_EQ(found->peak, PeakType::Fp32);
}

TEST(LibraryCost, WhatIsAddedIsReadUnlessItsFactorIsZeroOrUnknown) {
  const auto added = library_cost(
      "cublasDgemm_v2(transa=N, transb=N, m=3, n=5, k=7, A=fp64, B=fp64, C=fp64, compute=64f, beta=other)");
  const auto unknown =
      library_cost("cublasDgemm_v2(transa=N, transb=N, m=3, n=5, k=7, A=fp64, B=fp64, C=fp64, compute=64f)");
  ASSERT_TRUE(added && unknown);
  EXPECT_EQ(added->cost.bytes, 688u);    // (21 + 35 + 2·15) · 8
  EXPECT_EQ(unknown->cost.bytes, 568u);  // (21 + 35 + 15) · 8
  EXPECT_EQ(added->peak, PeakType::Fp64Matrix);
}

TEST(LibraryCost, ComplexProductsAreEightFlops) {
  const auto found = library_cost(
      "cublasZgemm_v2(transa=C, transb=N, m=3, n=5, k=7, A=complex128, B=complex128, C=complex128, compute=64f)");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cost.flops, 840u);   // 8·3·5·7
  EXPECT_EQ(found->cost.bytes, 1136u);  // 71 · 16
}

TEST(LibraryCost, EachMatrixHasItsOwnTypeAndAStrideOfZeroIsOneMatrix) {
  const auto found = library_cost(
      "cublasLtMatmul(transa=T, transb=N, m=4, n=6, k=8, batch=10, A=fp8_e4m3, B=fp16, C=fp32, compute=32f, strideA=0, "
      "beta=0)");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cost.flops, 3840u);  // 2·4·6·8·10
  EXPECT_EQ(found->cost.bytes, 1952u);  // 32·1 + 10·48·2 + 10·24·4
  EXPECT_EQ(found->cost.type, DataType::Fp8);
  EXPECT_EQ(found->peak, PeakType::Fp8);
}

TEST(LibraryCost, Fp4IsHalfAByteAndHasItsOwnPeak) {
  const auto found = library_cost(
      "cublasLtMatmul(transa=T, transb=N, m=128, n=256, k=128, A=fp4_e2m1, B=fp4_e2m1, C=bf16, compute=32f, beta=0)");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cost.flops, 2u * 128 * 256 * 128);
  EXPECT_EQ(found->cost.bytes, 128u * 128 / 2 + 128 * 256 / 2 + 128 * 256 * 2);
  EXPECT_EQ(found->cost.type, DataType::Fp4);
  EXPECT_EQ(found->peak, PeakType::Fp4);
}

TEST(LibraryCost, TheCallSaysWhatMayBeMultipliedIn) {
  const auto peak = [](std::string_view type, std::string_view rest) {
    const std::string text = "cublasGemmEx(transa=N, transb=N, m=1, n=1, k=1, A=" + std::string(type) +
                             ", B=fp32, C=fp32, " + std::string(rest) + ")";
    return library_cost(text)->peak;
  };
  EXPECT_EQ(peak("fp32", "compute=32f_fast_tf32"), PeakType::Tf32);
  EXPECT_EQ(peak("fp32", "compute=32f, math=tf32"), PeakType::Tf32);
  EXPECT_EQ(peak("fp32", "compute=32f_pedantic, math=tf32"), PeakType::Fp32);
  EXPECT_EQ(peak("fp32", "compute=32f_fast_16bf"), PeakType::Bf16);
  EXPECT_EQ(peak("fp32", "compute=32f_emulated_16bfx9"), std::nullopt);
  EXPECT_EQ(peak("bf16", "compute=32f, math=tf32"), PeakType::Bf16);
  EXPECT_EQ(peak("int8", "compute=32i"), PeakType::Int8);
}

TEST(LibraryCost, WhatIsNotKnownHasNoNumber) {
  for (const std::string_view text :
       {"cublasLtMatmul()", "cublasSgemm_v2(transa=N, transb=N, m=?, n=5, k=7, A=fp32, B=fp32, C=fp32, compute=32f)",
        "cublasSgemm_v2(transa=N, transb=N, m=3, n=5, k=7, A=99, B=fp32, C=fp32, compute=32f)",
        "cublasSgemm_v2(transa=N, transb=N, m=9999999999999, n=9999999999999, k=7, A=fp32, B=fp32, C=fp32)",
        "cublasSgemm_v2(transa=N, transb=N, m=2147483648, n=1073741824, k=1, A=fp32, B=fp32, C=fp32)", "ncclGroupEnd()",
        "ncclAllReduce(count=1000, type=fp32, op=sum, ranks=4, rank=1)"}) {
    const auto found = library_cost(text);
    ASSERT_TRUE(found) << text;
    EXPECT_FALSE(found->cost.known) << text;
    EXPECT_EQ(found->cost.flops, std::nullopt) << text;
    EXPECT_EQ(found->cost.bytes, std::nullopt) << text;
  }
  for (const std::string_view text :
       {"", "step", "cublasSgemm_v2(transa=N, transb=N, m=3, n=5, k=7, A=fp32, B=fp32, C=fp32, compute=32f) = 7"}) {
    EXPECT_FALSE(library_cost(text)) << text;
  }
}

TEST(LibraryCost, ANewTypeOfTheResultLeavesTheFlops) {
  const auto found =
      library_cost("cublasGemmEx(transa=N, transb=N, m=3, n=5, k=7, A=bf16, B=bf16, C=77, compute=32f, math=default)");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cost.flops, 210u);
  EXPECT_EQ(found->cost.bytes, std::nullopt);
  EXPECT_EQ(found->cost.no_bytes, NoCost::NoType);
}

// 8 and 5 are m and n; each matrix in 4 bytes.
TEST(LibraryCost, ASymmetricProductIsAsWideAsItsSideAndReadsHalfOfIt) {
  const auto cost = [](std::string_view side, std::string_view rest) {
    return *library_cost("cublasSsymm_v2(side=" + std::string(side) + ", uplo=U, m=8, n=5, " + std::string(rest) + ")");
  };
  const LibraryCost left = cost("L", "A=fp32, B=fp32, C=fp32, compute=32f, math=tf32, beta=0");
  EXPECT_EQ(left.cost.flops, 640u);  // 2·8·8·5
  EXPECT_EQ(left.cost.bytes, 464u);  // (36 + 40 + 40) · 4
  EXPECT_EQ(left.peak, PeakType::Tf32);
  EXPECT_TRUE(left.spread);
  const LibraryCost right = cost("R", "A=fp64, B=fp64, C=fp64, compute=64f, math=default, beta=other");
  EXPECT_EQ(right.cost.flops, 400u);   // 2·8·5·5
  EXPECT_EQ(right.cost.bytes, 1080u);  // (15 + 40 + 2·40) · 8
  const LibraryCost complex = cost("R", "A=complex64, B=complex64, C=complex64, compute=32f");
  EXPECT_EQ(complex.cost.flops, 1600u);  // 4 · 400
  EXPECT_EQ(complex.cost.bytes, 760u);   // (15 + 40 + 40) · 8
}

TEST(LibraryCost, AnUpdateOfRankKWritesHalfOfItsResult) {
  const auto cost = [](std::string_view rest) {
    return *library_cost("cublasSsyrk_v2(uplo=L, trans=N, n=4, k=6, " + std::string(rest) + ")");
  };
  const LibraryCost one = cost("A=fp32, C=fp32, compute=32f, math=default, beta=0");
  EXPECT_EQ(one.cost.flops, 120u);  // 6·4·5
  EXPECT_EQ(one.cost.bytes, 136u);  // (24 + 10) · 4
  EXPECT_EQ(one.peak, PeakType::Fp32);
  const LibraryCost added = cost("A=complex128, C=complex128, compute=64f, beta=other");
  EXPECT_EQ(added.cost.flops, 480u);                                            // 4 · 120
  EXPECT_EQ(added.cost.bytes, 704u);                                            // (24 + 2·10) · 16
  const LibraryCost two = cost("A=fp32, B=fp32, C=fp32, compute=32f, beta=0");  // syrkx
  EXPECT_EQ(two.cost.flops, 120u);
  EXPECT_EQ(two.cost.bytes, 232u);                                                            // (24 + 24 + 10) · 4
  const LibraryCost twice = cost("products=2, A=fp32, B=fp32, C=fp32, compute=32f, beta=0");  // syr2k
  EXPECT_EQ(twice.cost.flops, 240u);                                                          // 2·6·4·5
  EXPECT_EQ(twice.cost.bytes, 232u);
}

TEST(LibraryCost, ATriangleIsHalfAProductAndItsOnesAreNotRead) {
  const auto cost = [](std::string_view text) { return *library_cost(text); };
  const LibraryCost product = cost(
      "cublasStrmm_v2(side=L, uplo=U, trans=N, diag=U, m=8, n=5, A=fp32, B=fp32, C=fp32, compute=32f, math=default)");
  EXPECT_EQ(product.cost.flops, 320u);  // 8·8·5
  EXPECT_EQ(product.cost.bytes, 432u);  // (28 + 40 + 40) · 4
  const LibraryCost solved =
      cost("cublasDtrsm_v2(side=R, uplo=L, trans=T, diag=N, m=8, n=5, A=fp64, B=fp64, compute=64f, math=default)");
  EXPECT_EQ(solved.cost.flops, 200u);  // 8·5·5
  EXPECT_EQ(solved.cost.bytes, 760u);  // (15 + 2·40) · 8
  const LibraryCost batched = cost(
      "cublasCtrsmBatched(side=R, uplo=L, trans=T, diag=N, m=8, n=5, batch=3, A=complex64, B=complex64, compute=32f)");
  EXPECT_EQ(batched.cost.flops, 2400u);  // 3 · 4 · 200
  EXPECT_EQ(batched.cost.bytes, 2280u);  // 3 · 95 · 8
}

TEST(LibraryCost, HalfAMatrixThatIsNotKnownHasNoNumber) {
  for (const std::string_view text :
       {"cublasSsymm_v2(side=L, uplo=U, m=?, n=5, A=fp32, B=fp32, C=fp32)",
        "cublasSsymm_v2(side=7, uplo=U, m=8, n=5, A=fp32, B=fp32, C=fp32)",
        "cublasSsymm_v2(side=R, uplo=U, m=9999999999999, n=9999999999999, A=fp32, B=fp32, C=fp32)",
        "cublasSsyrk_v2(uplo=L, trans=N, n=4, k=?, A=fp32, C=fp32)",
        "cublasSsyrk_v2(uplo=L, trans=N, n=9999999999999, k=6, A=fp32, C=fp32)",
        "cublasStrsmBatched(side=R, uplo=L, trans=T, diag=N, m=8, n=5, batch=?, A=fp32, B=fp32)"}) {
    const auto found = library_cost(text);
    ASSERT_TRUE(found) << text;
    EXPECT_FALSE(found->cost.known) << text;
    EXPECT_EQ(found->cost.flops, std::nullopt) << text;
    EXPECT_EQ(found->cost.bytes, std::nullopt) << text;
  }
}

TEST(LibraryCost, ATransformIsFiveNLogNAndHalfOfThatOfRealNumbers) {
  const auto complex = library_cost("cufftExecC2C(points=32x64, batch=3, A=complex64, C=complex64, direction=forward)");
  ASSERT_TRUE(complex && complex->cost.known);
  EXPECT_EQ(complex->cost.flops, 337920u);  // 5 · 2048 · 11 · 3
  EXPECT_EQ(complex->cost.bytes, 98304u);   // 2 · 2048 · 3 · 8
  EXPECT_EQ(complex->peak, PeakType::Fp32);
  EXPECT_TRUE(complex->nominal && complex->spread);
  const auto real = library_cost("cufftExecD2Z(points=10x20, A=fp64, C=complex128)");
  ASSERT_TRUE(real && real->cost.known);
  EXPECT_EQ(real->cost.flops, 3822u);  // 2.5 · 200 · log2(200) = 3821.928
  EXPECT_EQ(real->cost.bytes, 3360u);  // 200 · 8 + 10 · 11 · 16
  EXPECT_EQ(real->peak, PeakType::Fp64);
  EXPECT_EQ(library_cost("cufftExecZ2D(points=10x20, A=complex128, C=fp64)")->cost.bytes, 3360u);
  EXPECT_EQ(library_cost("cufftXtExec(points=8, A=complex32, C=complex32, direction=inverse)")->peak, std::nullopt);
  EXPECT_EQ(library_cost("cufftExecC2C(points=1, batch=9, A=complex64, C=complex64)")->cost.flops, 0u);
}

TEST(LibraryCost, ATransformThatIsNotKnownHasNoNumber) {
  for (const std::string_view text :
       {"cufftExecC2C()", "cufftExecC2C(points=?, A=complex64, C=complex64)",
        "cufftExecC2C(points=8, batch=?, A=complex64, C=complex64)", "cufftXtExec(points=8, A=77, C=complex64)",
        "cufftXtExec(points=8, A=fp32, C=fp32)",
        "cufftExecC2C(points=4294967295x4294967295x4294967295, A=complex64, C=complex64)"}) {
    const auto found = library_cost(text);
    ASSERT_TRUE(found) << text;
    EXPECT_FALSE(found->cost.known) << text;
    EXPECT_EQ(found->cost.flops, std::nullopt) << text;
    EXPECT_EQ(found->cost.bytes, std::nullopt) << text;
  }
}

TEST(LibraryCost, AProductWithAVectorIsTwoFlopsForEachElementOfTheMatrix) {
  const auto plain =
      library_cost("cublasSgemv_v2(trans=T, m=10, n=4, A=fp32, B=fp32, C=fp32, compute=32f, math=default, beta=other)");
  ASSERT_TRUE(plain && plain->cost.known);
  EXPECT_EQ(plain->cost.flops, 80u);
  EXPECT_EQ(plain->cost.bytes, 232u);  // (40 + 10 + 2·4) · 4
  EXPECT_EQ(plain->peak, PeakType::Fp32);
  const auto batched = library_cost(
      "cublasTSSgemvStridedBatched(trans=N, m=10, n=4, batch=3, A=bf16, B=bf16, C=fp32, compute=32f, strideA=0, "
      "beta=0)");
  EXPECT_EQ(batched->cost.flops, 240u);
  EXPECT_EQ(batched->cost.bytes, 224u);  // 40·2 + 3·4·2 + 3·10·4
  EXPECT_EQ(batched->peak, std::nullopt);
  EXPECT_EQ(library_cost("cublasZgemv_v2(trans=N, m=10, n=4, A=complex128, B=complex128, C=complex128)")->cost.flops,
            320u);
  EXPECT_FALSE(library_cost("cublasSgemv_v2(trans=N, m=?, n=4, A=fp32, B=fp32, C=fp32, compute=32f)")->cost.known);
}

TEST(LibraryCost, ASparseProductIsTwoFlopsForEachNonZeroAndColumn) {
  const std::string sizes = "m=10, n=4, k=20, nnz=30, A=fp32, B=fp32, C=fp32, index=int32, ";
  const auto csr = library_cost("cusparseSpMM(sparse=A, format=csr, transa=N, transb=N, " + sizes +
                                "offset=int64, compute=fp32, beta=0)");
  ASSERT_TRUE(csr && csr->cost.known);
  EXPECT_EQ(csr->cost.flops, 240u);  // 2·30·4
  EXPECT_EQ(csr->cost.bytes, 808u);  // 30·(4 + 4) + 11·8 + 20·4·4 + 10·4·4
  EXPECT_EQ(csr->peak, PeakType::Fp32);
  EXPECT_FALSE(csr->nominal || csr->spread);
  const auto flipped = library_cost("cusparseSpMM(sparse=A, format=csr, transa=T, transb=N, " + sizes +
                                    "offset=int64, compute=fp32, beta=other)");
  EXPECT_EQ(flipped->cost.bytes, 1048u);  // A has 20 rows: 30·8 + 21·8 + 320 + 2·160
  const auto csc = library_cost("cusparseSpMM(sparse=A, format=csc, transa=N, transb=N, " + sizes +
                                "offset=int32, compute=fp32, beta=0)");
  EXPECT_EQ(csc->cost.bytes, 804u);  // 240 + 21·4 + 320 + 160
  const auto coo = library_cost("cusparseSpMM(sparse=A, format=coo, transa=N, transb=N, batch=3, " + sizes +
                                "compute=fp32, strideA=0, beta=0)");
  EXPECT_EQ(coo->cost.flops, 720u);
  EXPECT_EQ(coo->cost.bytes, 1800u);  // 30·(4 + 2·4) + 3·(320 + 160)
}

TEST(LibraryCost, AProductAtThePlacesOfASparseMatrixIsTwoFlopsForEachInnerPlace) {
  const auto found = library_cost(
      "cusparseSDDMM(sparse=C, format=csr, transa=N, transb=N, m=10, n=20, k=8, nnz=30, A=complex128, B=complex128, "
      "C=complex128, index=int32, offset=int32, compute=complex128, beta=0)");
  ASSERT_TRUE(found && found->cost.known);
  EXPECT_EQ(found->cost.flops, 1920u);  // 8·30·8
  EXPECT_EQ(found->cost.bytes, 4484u);  // (80 + 160 + 30)·16 + 30·4 + 11·4
  EXPECT_EQ(found->peak, PeakType::Fp64);
}

TEST(LibraryCost, ASparseProductOfUnknownNonZerosHasNoNumber) {
  for (const std::string_view text :
       {"cusparseSpMM(sparse=A)", "cusparseSpMM(sparse=A, format=blocked_ell)",
        "cusparseSpMM(sparse=A, format=csr, m=10, n=?, k=20, nnz=30, A=fp32, B=fp32, C=fp32, compute=fp32)"}) {
    const auto found = library_cost(text);
    ASSERT_TRUE(found) << text;
    EXPECT_FALSE(found->cost.known) << text;
    EXPECT_EQ(found->cost.flops, std::nullopt) << text;
  }
  const auto mixed = library_cost(
      "cusparseSpMM(sparse=A, format=csr, transa=N, transb=N, m=10, n=4, k=20, nnz=30, A=fp16, B=fp16, C=fp16, "
      "index=int32, offset=7, compute=fp32)");
  EXPECT_EQ(mixed->cost.flops, 240u);
  EXPECT_EQ(mixed->cost.bytes, std::nullopt);
  EXPECT_EQ(mixed->peak, std::nullopt);
}

TEST(LibraryCost, OfACollectiveNothingIsCountedHere) {
  const auto found = library_cost("ncclAllReduce(count=1000, type=bf16, op=sum, ranks=4, rank=1)");
  EXPECT_EQ(found->cost.flops, std::nullopt);
  EXPECT_EQ(found->cost.bytes, std::nullopt);
  EXPECT_EQ(found->cost.no_flops, NoCost::NotCounted);
}

}  // namespace
}  // namespace prof::analyzer
