// Written by fit.py beside this file, from the definitions of the functions: not to be edited. Each bound is
// the largest relative error that the polynomial brings into the value of its function.
#pragma once
#include <stdint.h>

namespace device::fitted {

// e^r = 1 + r + r^2 P(r), |r| <= ln(2) / 2. Within 2^-28.2.
constexpr float exp_f32[] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558dp-5f, 0x1.1239ccp-7f, 0x1.6a266p-10f};

// log(1 + f) = f - f^2 / 2 + f^3 P(f), sqrt(1/2) <= 1 + f <= sqrt(2). Within 2^-29.9.
constexpr float log_f32[] = {0x1.555548p-2f, -0x1.000008p-2f, 0x1.99a4aep-3f, -0x1.555c24p-3f,
    0x1.23371cp-3f, -0x1.fc20f2p-4f, 0x1.e6ef24p-4f, -0x1.de3fa4p-4f, 0x1.145db6p-4f};

// tanh(x) = x + x z P(z), z = x^2, |x| <= 0.625. Within 2^-27.4.
constexpr float tanh_f32[] = {-0x1.555532p-2f, 0x1.110722p-3f, -0x1.b83c66p-5f, 0x1.5226eep-6f,
    -0x1.75e354p-8f};

// atan(x) = x + x z P(z), z = x^2, |x| <= tan(pi / 8). Within 2^-29.8.
constexpr float atan_f32[] = {-0x1.55554ap-2f, 0x1.9991ap-3f, -0x1.23b51ep-3f, 0x1.b1ecf2p-4f,
    -0x1.f1f04cp-5f};

// erf(x) = x + x P(z), z = x^2, |x| <= 0.927734375. Within 2^-25.6.
constexpr float erf_near_f32[] = {0x1.06eba6p-3f, -0x1.8126ep-2f, 0x1.ce196ap-4f, -0x1.b67c7cp-6f,
    0x1.46e3c6p-8f, -0x1.38aeeap-11f};

// erf(x) = 1 - e^(x P(x) - x), 0.927734375 <= x <= 4. Within 2^-29.8.
constexpr float erf_far_f32[] = {-0x1.077b32p-3f, -0x1.45302ep-1f, -0x1.b344d8p-4f, 0x1.85bd8p-6f,
    -0x1.df05ecp-9f, 0x1.55a156p-12f, -0x1.82eb68p-17f};

// erfc(x) = e^(-x^2) w P((x - 2) w), w = 1 / (x + 2), 0.46875 <= x <= 10.1. Within 2^-25.7.
constexpr float erfc_f32[] = {0x1.058672p0f, -0x1.5fd386p-1f, 0x1.1e2ddap-2f, -0x1.2a8b7p-5f,
    -0x1.6056f4p-6f, 0x1.a9722cp-8f, 0x1.8faf76p-9f, -0x1.d08458p-11f, -0x1.1964d8p-11f, 0x1.c27816p-14f};

// sin(x) = x + x z P(z), z = x^2, |x| <= pi / 4. Within 2^-37.4.
constexpr double sin_f32[] = {-0x1.5555554c71bddp-3, 0x1.1111086a13c9ep-7, -0x1.a00f7ed5699e3p-13,
    0x1.6cd1dc9f43e37p-19};

// cos(x) = 1 + z P(z), z = x^2, |x| <= pi / 4. Within 2^-33.8.
constexpr double cos_f32[] = {-0x1.ffffffcb863p-2, 0x1.55553c799a751p-5, -0x1.6c07f1c09dea5p-10,
    0x1.9916b1664e465p-16};

// log2((1 + s) / (1 - s)) = s P(z), z = s^2, sqrt(1/2) <= (1 + s) / (1 - s) <= sqrt(2). Within 2^-37.7.
constexpr double log2_wide[] = {0x1.71547652bedc8p1, 0x1.ec709d12f85e8p-1, 0x1.27777fcfc8496p-1,
    0x1.a58d92a897906p-2, 0x1.5ce7b14e323e1p-2};

// 2^r = 1 + r P(r), |r| <= 1/2. Within 2^-32.0.
constexpr double exp2_wide[] = {0x1.62e4300b56e33p-1, 0x1.ebfbe04843505p-3, 0x1.c6b055b5dcca8p-5,
    0x1.3b2a19b07dcd7p-7, 0x1.5dbfb255b3d5p-10, 0x1.44413130d974ap-13, 0x1.c1033675a1692p-17};

// e^r = 1 + r + r^2 P(r), |r| <= ln(2) / 2. Within 2^-60.2.
constexpr double exp_f64[] = {0x1p-1, 0x1.555555555555bp-3, 0x1.5555555555503p-5, 0x1.111111110ec4ep-7,
    0x1.6c16c16c305cap-10, 0x1.a01a01b383ed3p-13, 0x1.a01a01363ed1cp-16, 0x1.71ddf012d7f64p-19,
    0x1.27e5b4d60d3bep-22, 0x1.af6bfff9c1e58p-26, 0x1.1e3c74cdfa5p-29};

// log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2, sqrt(1/2) <= (1 + s) / (1 - s) <= sqrt(2). Within 2^-59.3.
constexpr double log_f64[] = {0x1.5555555555592p-1, 0x1.999999997ff11p-2, 0x1.24924941df046p-2,
    0x1.c71c521775dbdp-3, 0x1.74663c1ef9e42p-3, 0x1.39a200595367cp-3, 0x1.2f02b9bceba7dp-3};

// log((1 + s) / (1 - s)) / 2 = s + s z (1/3 + z (1/5 + z P(z))), for the same s. Within 2^-74.0.
constexpr double log_extended[] = {0x1.2492492492489p-3, 0x1.c71c71c71f27bp-4, 0x1.745d174347017p-4,
    0x1.3b13b281d137bp-4, 0x1.1110afdff2b34p-4, 0x1.e20530f5d1126p-5, 0x1.ab51a57d708f2p-5,
    0x1.c0656e471ae92p-5};

// tanh(x) = x + x z P(z), z = x^2, |x| <= 0.625. Within 2^-56.6.
constexpr double tanh_f64[] = {-0x1.5555555555552p-2, 0x1.1111111110c04p-3, -0x1.ba1ba1b9ce6b4p-5,
    0x1.664f487038306p-6, -0x1.226e32c144d72p-7, 0x1.d6d35850e24b5p-9, -0x1.7d9c1d77cc031p-10,
    0x1.350ae273abb2ap-11, -0x1.f10cbcf5087dfp-13, 0x1.800635765feddp-14, -0x1.fa758d7355a6ap-16,
    0x1.95818746256a2p-18};

// atan(x) = x + x z P(z), z = x^2, |x| <= tan(pi / 8). Within 2^-58.4.
constexpr double atan_f64[] = {-0x1.5555555555554p-2, 0x1.999999999964bp-3, -0x1.24924924756b7p-3,
    0x1.c71c71b748689p-4, -0x1.745d14b9658a7p-4, 0x1.3b136e2618673p-4, -0x1.110c72631ccfp-4,
    0x1.e171f8b0b9a42p-5, -0x1.ab7d583d50e1ap-5, 0x1.70ecc5d693b59p-5, -0x1.1236e31e032cdp-5,
    0x1.f1e698f43085ap-7};

// erf(x) = x P(z), z = x^2, |x| <= 1. Within 2^-54.4.
constexpr double erf_near_f64[] = {0x1.20dd750429b6dp0, -0x1.812746b0379e7p-2, 0x1.ce2f21a042bddp-4,
    -0x1.b82ce3128899bp-6, 0x1.565bcd0e64ab1p-8, -0x1.c02db3fed8e3cp-11, 0x1.f9a326bfb4b2p-14,
    -0x1.f4d255e111e95p-17, 0x1.b9e64d04a8c3dp-20, -0x1.5f6d6b30ef476p-23, 0x1.fc4115483810ep-27,
    -0x1.4e55c44e80329p-30, 0x1.7ecbcab932e1p-34, -0x1.292887ee68aa8p-38};

// erfc(x) = e^(-x^2) w P((x - 2) w), w = 1 / (x + 2), 0.46875 <= x <= 27.3. Within 2^-54.7.
constexpr double erfc_f64[] = {0x1.058671b52c776p0, -0x1.5fd386754eff9p-1, 0x1.1e2deea6b117ep-2,
    -0x1.2a88e6107d84fp-5, -0x1.606e41552d3b6p-6, 0x1.a89eaff8bb7ap-8, 0x1.9517bb7423cb8p-9,
    -0x1.b6fbf9d85daffp-11, -0x1.5ba4393d5e1b3p-11, 0x1.205448f752062p-15, 0x1.2efa4c3fc6ab8p-13,
    0x1.1e747a7c68ccbp-15, -0x1.6c07111099b1dp-16, -0x1.0e629e206fd47p-16, -0x1.2cfd097ffe9cdp-20,
    0x1.e6a68bf56f0dbp-19, 0x1.0c1b9ec0837d4p-19, 0x1.8b303939e770ep-25, -0x1.37a1c83b00abep-21,
    -0x1.a313c133dec04p-22, 0x1.0af6da5684affp-25, 0x1.632de07b4d19ap-23, 0x1.1fe31a45b4a5ep-26,
    -0x1.0c9cc4697ec54p-25};

// sin(x) = x + x z P(z), z = x^2, |x| <= pi / 4. Within 2^-56.3.
constexpr double sin_f64[] = {-0x1.5555555555548p-3, 0x1.111111110f7dp-7, -0x1.a01a019bfe06cp-13,
    0x1.71de3567edc47p-19, -0x1.ae5e5aa7f60bdp-26, 0x1.5d8fd84c258c1p-33};

// cos(x) = 1 - z / 2 + z^2 P(z), z = x^2, |x| <= pi / 4. Within 2^-59.7.
constexpr double cos_f64[] = {0x1.555555555554bp-5, -0x1.6c16c16c14f94p-10, 0x1.a01a019c84851p-16,
    -0x1.27e4f7eae6275p-22, 0x1.1ee9d7c980fd9p-29, -0x1.8fa4a40b190eep-37};

// ln(2): 16 bits, whose product with an exponent is exact, and the rest.
constexpr float ln2_f32[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};
// ln(2): 42 bits, and the rest.
constexpr double ln2_f64[] = {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45};
// ln(2) as a double, and the rest.
constexpr double ln2_wide[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
// pi / 2 as a float, and the rest.
constexpr float quarter_narrow[] = {0x1.921fb6p0f, -0x1.777a5cp-25f};
// pi / 2 in 27 bits, twice, and the rest.
constexpr double quarter_f32[] = {0x1.921fb54p0, 0x1.10b461p-30, 0x1.a62633145c06ep-58};
// pi / 2 in 33 bits, three times, and the rest.
constexpr double quarter_f64[] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104};
// pi / 2 as a double, and the rest.
constexpr double quarter_wide[] = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54};
// log2(e).
constexpr float log2e_f32 = 0x1.715476p0f;
// log2(e).
constexpr double log2e_f64 = 0x1.71547652b82fep0;
// 2 / pi.
constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
// 2 / pi as a binary fraction.
constexpr uint32_t two_over_pi_bits[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599,
    0x3C439041, 0xFE5163AB, 0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C,
    0xB129A73E, 0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B,
    0xBDF9283B, 0x1FF897FF, 0xDE05980F, 0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66,
    0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08};

}  // namespace device::fitted
